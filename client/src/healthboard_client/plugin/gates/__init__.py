"""The gates: each a module of its own, that knows one kind of state."""

from __future__ import annotations
