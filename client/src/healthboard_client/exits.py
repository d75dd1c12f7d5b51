"""The exit codes of every command, as the manual documents them."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    NO = 1  # the answer is no: red, nothing proven, or a strict upload that failed
    UNANSWERED = 2  # no answer in time, or none that can be trusted
    MISUSED = 64  # wrong options or settings; nothing was asked


class Misuse(Exception):
    """The options or settings cannot be worked with; says which."""


class Unanswered(Exception):
    """The server gave no usable answer; says why."""
