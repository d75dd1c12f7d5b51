"""Checks of the values of a JSON document; each names the path of what it refuses.

Guarantees: what comes back has its type and is within its bounds; texts hold nothing
that a database cannot store; a document with a repeated key, with NaN or nested too
deeply is refused.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from formats.json_lines import clean
from formats.report import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_INTEGER = 2**31 - 1

# Any, below: JSON values that are being checked.


def load(raw: bytes) -> Any:
    """Decode one JSON document in UTF-8, UTF-16 or UTF-32."""
    try:
        return json.loads(raw, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError as error:
        raise Rejected("nested too deeply") from error
    except json.JSONDecodeError as error:
        raise Rejected(
            f"not JSON: {error.msg}", line=error.lineno, column=error.colno
        ) from error
    except UnicodeDecodeError as error:
        raise Rejected(f"not {error.encoding} at byte {error.start}") from error
    except ValueError as error:  # an integer of thousands of digits
        raise Rejected(f"not JSON: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                refuse(shown(key), "stands twice in one object")
            seen.add(key)
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def refuse(path: str, what: str) -> NoReturn:
    raise Rejected(f"{path}: {what}" if path else what, path=path or None)


def below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def shown(key: str) -> str:
    """A sender's key, fit to stand in an answer."""
    return "".join(c if c.isprintable() else "�" for c in key[:100])


def check_object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(path, "must be an object")
    return value


def check_keys(value: dict[str, Any], known: Iterable[str], path: str) -> None:
    """Refuse keys that are not known."""
    for key in value.keys() - set(known):
        refuse(below(path, shown(key)), "not a known key")


def check_list(value: Any, path: str, *, most: int) -> list[Any]:
    if not isinstance(value, list):
        refuse(path, "must be a list")
    if len(value) > most:
        refuse(path, f"more than {most:,} entries")
    return value


def check_text(value: Any, path: str, *, most: int, filled: bool = False) -> str:
    """A text, its lines as they are."""
    if not isinstance(value, str):
        refuse(path, "must be a text")
    if len(value) > most:
        refuse(path, f"longer than {most:,} characters")
    if filled and not value.strip():
        refuse(path, "must not be empty")
    return clean(value)


def check_line(value: Any, path: str, *, most: int, filled: bool = True) -> str:
    """A text on one line: white space of any kind becomes one blank."""
    return " ".join(check_text(value, path, most=most, filled=filled).split())


def check_integer(
    value: Any, path: str, *, least: int, most: int = MOST_INTEGER
) -> int:
    """A JSON integer: neither `true` nor `1.0`."""
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(path, "must be an integer")
    if not least <= value <= most:
        refuse(path, f"must be {least:,} to {most:,}")
    return value


def check_number(value: Any, path: str, *, least: float, most: float) -> float:
    """A finite number, an integer as an integer."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(path, "must be a number")
    if not least <= value <= most:  # nor is NaN
        refuse(path, f"must be {least:,} to {most:,}")
    return value


def check_boolean(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        refuse(path, "must be true or false")
    return value
