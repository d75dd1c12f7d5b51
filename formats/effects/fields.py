"""Checks of single values; each names the path of what it refuses.

Guarantees: types are exact (`true` and `1.0` are no integers), objects have exactly
the keys asked for, integers have at most 1,000 digits, and no text holds NUL, CR, LF or half of a surrogate pair.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNFIT = re.compile("[\x00\r\n\ud800-\udfff]")
_DIGEST = re.compile("[0-9a-f]{64}")
_LABEL = re.compile("[a-z0-9_.:-]{0,64}")
# Python writes no number of more than 4,300 digits; no ledger counts so far.
_TOO_LARGE = 10**1000


class Unfit(Exception):
    """A value that breaks the format, or the ledger's consistency."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(f"{path or 'the line'} {what}")
        self.path = path


# Any, below: JSON values that are being checked.


def check_keys(value: Any, keys: frozenset[str], path: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise Unfit(path, "is no object")
    if value.keys() != keys:
        missing = sorted(keys - value.keys())
        if missing:
            raise Unfit(path, f"lacks {', '.join(missing)}")
        extra = sorted(value.keys() - keys)
        raise Unfit(path, f"has an unknown key {shown(extra[0])}")
    return value


def check_list(value: Any, path: str) -> list[Any]:
    if type(value) is not list:
        raise Unfit(path, "is no list")
    return value


def check_text(value: Any, path: str) -> str:
    if type(value) is not str:
        raise Unfit(path, "is no text")
    if _UNFIT.search(value):
        raise Unfit(path, "holds NUL, CR, LF or half of a surrogate pair")
    return value


def check_filled(value: Any, path: str) -> str:
    if not check_text(value, path):
        raise Unfit(path, "is empty")
    return value  # type: ignore[no-any-return]  # it is a text


def check_digest(value: Any, path: str) -> str:
    if type(value) is not str or not _DIGEST.fullmatch(value):
        raise Unfit(path, "is no digest of 64 lower-case hexadecimal digits")
    return value


def check_label(value: Any, path: str) -> str:
    if type(value) is not str or not _LABEL.fullmatch(value):
        raise Unfit(path, "is no label of up to 64 of a-z 0-9 _ . : -")
    return value


def check_bool(value: Any, path: str) -> bool:
    if type(value) is not bool:
        raise Unfit(path, "is neither true nor false")
    return value


def check_integer(value: Any, path: str) -> int:
    if type(value) is not int:
        raise Unfit(path, "is no integer")
    if abs(value) >= _TOO_LARGE:
        raise Unfit(path, "has more than 1,000 digits")
    return value


def check_choice[Choice](
    value: Any, choices: Mapping[str, Choice], path: str
) -> Choice:
    if type(value) is not str or value not in choices:
        known = ", ".join(choices)
        raise Unfit(path, f"is {shown(value)}, none of {known}")
    return choices[value]


def shown(value: object) -> str:
    """The value as a message quotes it: short, and without what cannot be stored."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a very large number"
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "…"
