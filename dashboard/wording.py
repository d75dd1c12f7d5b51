"""How numbers, times and outcomes are written on every page. Pure."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime

_STEPS: tuple[tuple[int, tuple[int, str]], ...] = (
    (60, (1, "second")),
    (3600, (60, "minute")),
    (86_400, (3600, "hour")),
    (30 * 86_400, (86_400, "day")),
    (365 * 86_400, (30 * 86_400, "month")),
)
_LISTED = 5
_YEAR = (365 * 86_400, "year")


def answer_look(status: int) -> str:
    """Return the look of an HTTP answer: that of the outcome it is most like."""
    if status >= 500:
        return "error"
    if status >= 400:
        return "failed"
    return "passed" if status == HTTPStatus.ACCEPTED else "skipped"


def sent_look(status: int) -> str:
    """Return the look of an answer to what the board sent."""
    return "passed" if 200 <= status < 300 else answer_look(max(status, 400))


def delivery_look(state: str) -> str:
    """Return the look of a delivery's state."""
    looks = {"delivered": "passed", "dead": "failed", "waiting": "waiting"}
    return looks.get(state, "skipped")


def grouped(number: int) -> str:
    """Write 12141 as 12,141."""
    return f"{number:,}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write `1 test`, `2 tests`, `no tests`."""
    word = noun if number == 1 else plural or f"{noun}s"
    return f"{number:,} {word}" if number else f"no {word}"


def last_days(number: int) -> str:
    """Write `last day`, `last 30 days`."""
    return "last day" if number == 1 else f"last {number:,} days"


def duration(seconds: float | None) -> str:
    """Write seconds with the unit a person would choose."""
    if seconds is None:
        return "–"
    if seconds < 0.001:
        return "< 1 ms" if seconds > 0 else "0 s"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return (
            f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
        )
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def percent(share: float | None) -> str:
    """Write a share of 0..1; only all is 100 % and only none is 0 %."""
    if share is None:
        return "–"
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    value = share * 100
    if value < 0.1:
        return "< 0.1 %"
    if value > 99.9:
        return "> 99.9 %"
    return f"{value:.1f} %"


def ago(then: datetime, *, now: datetime) -> str:
    """Write how long ago something was (or how soon it will be)."""
    seconds = (now - then).total_seconds()
    distance = abs(seconds)
    if distance < 10:
        return "just now"
    unit, noun = next((step for limit, step in _STEPS if distance < limit), _YEAR)
    text = counted(max(1, int(distance // unit)), noun)
    return f"{text} ago" if seconds >= 0 else f"in {text}"


def days_ago(day: date, *, today: date) -> str:
    """Write how many days ago a day was; a day ahead is a wrong clock's."""
    distance = (today - day).days
    if distance in (0, 1):
        return ("today", "yesterday")[distance]
    if distance < 0:
        return f"on {day.isoformat()}"
    for size, noun in ((365, "year"), (30, "month")):
        if distance >= 2 * size:
            return f"{counted(distance // size, noun)} ago"
    return f"{counted(distance, 'day')} ago"


def split_nodeid(nodeid: str) -> tuple[str, str]:
    """Split an id where it may be shortened: before its last `::` part.

    Both parts joined give the id again, so that it can be searched and copied whole.
    """
    bracket = nodeid.find("[")
    at = nodeid.rfind("::", 0, bracket if bracket > 0 else len(nodeid))
    if at <= 0:
        at = nodeid.rfind("/", 0, bracket if bracket > 0 else len(nodeid))
    return (nodeid[:at], nodeid[at:]) if at > 0 else ("", nodeid)


def sentence(parts: list[str]) -> str:
    """Join parts as prose: `a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def short_commit(commit: str) -> str:
    """Write a hexadecimal commit by its first nine digits, others whole."""
    hexadecimal = len(commit) >= 20 and all(c in "0123456789abcdef" for c in commit)
    return commit[:9] if hexadecimal else commit


def plain(value: object) -> str:
    """Write a JSON value in a line: `os=linux, python=3.12`, `a, b`, `yes`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key}={plain(value[key])}" for key in sorted(value))
    if isinstance(value, list):
        shown = [plain(item) for item in value[:_LISTED]]
        more = len(value) - len(shown)
        return ", ".join(shown) + (f" and {more:,} more" if more else "") or "none"
    return "none" if value is None else str(value)


def is_web(address: str) -> bool:
    """Tell whether an address from outside may become a link."""
    return address.startswith(("https://", "http://"))
