"""What both sides of an experiment call each other; importable without pytest."""

from __future__ import annotations

PLUGIN = "healthboard_client.replaying"
VARIABLE = "HEALTHBOARD_REPLAY"
