"""Reading durations as test tools write them, in any locale.

Guarantees: a duration is a number of seconds from 0 to `MOST_SECONDS`, or `None`; no
text raises. A lone comma separates thousands only where the digits are grouped in
threes and do not begin with 0; else it is a decimal comma.
"""

from __future__ import annotations

import re

# Three million years measure nothing; the bound keeps every sum of times finite.
MOST_SECONDS = 1e14
_INFINITY = float("inf")
_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 0.001}
_WITH_UNIT = re.compile(r"([-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?)\s*([a-zA-Z]*)\Z")
_COMMA_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+\Z")
_COMMA_THEN_POINT = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]*\Z")
_POINT_THEN_COMMA = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]*\Z")
_DECIMAL_COMMA = re.compile(r"[0-9]*,[0-9]*\Z")
# Longer is no number of seconds; the bound keeps the patterns cheap.
_LONGEST = 64


def seconds(text: str) -> float | None:
    """Read a `time` attribute; `None` when it holds no usable number."""
    try:
        value = float(text)
    except ValueError:
        return _localised(text)
    if 0.0 <= value <= MOST_SECONDS and "_" not in text:
        return value + 0.0
    if -_INFINITY < value < 0.0:
        return 0.0
    return None


def _localised(text: str) -> float | None:
    text = text.strip()
    match = _WITH_UNIT.match(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    factor = _UNITS.get(match[2].lower())
    if factor is None:
        return None
    sign, digits = _split_sign(match[1])
    try:
        value = float(_plain(digits)) * factor
    except ValueError:
        return None
    if not value <= MOST_SECONDS:
        return None
    return 0.0 if sign == "-" else value


def _split_sign(number: str) -> tuple[str, str]:
    return (number[0], number[1:]) if number[0] in "+-" else ("", number)


def _plain(number: str) -> str:
    """Rewrite grouped or comma-separated digits with a decimal point."""
    if _COMMA_THOUSANDS.match(number) or _COMMA_THEN_POINT.match(number):
        return number.replace(",", "")
    if _POINT_THEN_COMMA.match(number):
        return number.replace(".", "").replace(",", ".")
    if _DECIMAL_COMMA.match(number):
        return number.replace(",", ".")
    return number
