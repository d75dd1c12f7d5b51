"""The pytest plugin; importing it costs nothing until it is switched on."""

from __future__ import annotations
