"""The client of Healthboard: the standard library, and nothing imported unasked."""

from __future__ import annotations

__version__ = "0.1.0"
PROTOCOL = 1
