"""The order trace: one line for each attempt of a test, in order of start.

Guarantees: a `Reading` with a process and a position for every test, or `Rejected`
with the number of the first bad line; docs/order.md has the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from formats.executions import Execution, read_executions
from formats.json_lines import JsonLines, clean, number
from formats.limits import DEFAULT_LIMITS, Limits
from formats.outcomes import Outcome
from formats.report import OrderQuality, Reading, Rejected

if TYPE_CHECKING:
    from formats.json_lines import Json

VERSION = 1

_RERUN = "rerun"  # failed, and another attempt was announced
_OUTCOMES = {str(outcome): outcome for outcome in Outcome}
_PHASES = ("setup", "call", "teardown")
_REQUIRED = ("v", "test", "worker", "pid", "outcome")


def read_order(stream: BinaryIO, *, limits: Limits = DEFAULT_LIMITS) -> Reading:
    """Read a seekable stream that holds an order trace, plain, gzip or zstd."""
    lines = JsonLines(stream, limits=limits)
    executions: list[Execution] = []
    for line, record in lines:
        if len(executions) >= limits.cases:
            raise Rejected(f"more than {limits.cases:,} lines", line=line)
        executions.append(_execution(record, line, limits))
    return read_executions(executions, order=OrderQuality.TRACED, notes=lines.notes)


def _execution(record: dict[str, Json], line: int, limits: Limits) -> Execution:
    for key in _REQUIRED:
        if record.get(key) is None:
            raise Rejected(f"{key}: missing", line=line)
    version = record["v"]
    if not isinstance(version, int) or version is True:
        raise Rejected(f"v: must be the number {VERSION}", line=line)
    if version != VERSION:
        message = (
            f"v: version {str(version)[:50]} is not known here; this reads {VERSION}"
        )
        raise Rejected(message, line=line)
    pid = _count(record, "pid", line, most=2**63)
    position = _count(record, "position", line, most=2**31)
    start = _amount(record, "start", line)
    if position is None and start is None:
        raise Rejected("position: missing, and so is start", line=line)
    worker = _text(record, "worker", line)
    nodeid = _text(record, "test", line)
    if not nodeid:
        raise Rejected("test: empty", line=line)
    if len(nodeid) > limits.name:
        message = f"test: longer than {limits.name:,} characters"
        raise Rejected(message, line=line)
    return Execution(
        nodeid=nodeid,
        outcome=_outcome(record, line),
        line=line,
        worker=worker,
        process=f"{worker}:{pid}",
        position=position,
        start=start,
        duration=_amount(record, "duration", line),
    )


def _outcome(record: dict[str, Json], line: int) -> Outcome:
    told = _text(record, "outcome", line)
    phase = record.get("phase")
    if phase is not None and phase not in _PHASES:
        raise Rejected(f"phase: must be one of {', '.join(_PHASES)}", line=line)
    outcome = Outcome.FAILED if told == _RERUN else _OUTCOMES.get(told)
    if outcome is None:
        known = ", ".join((*_OUTCOMES, _RERUN))
        raise Rejected(f"outcome: must be one of {known}", line=line)
    if outcome is Outcome.FAILED and phase in ("setup", "teardown"):
        return Outcome.ERROR
    return outcome


def _text(record: dict[str, Json], key: str, line: int) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise Rejected(f"{key}: must be a text", line=line)
    return clean(value)


def _count(record: dict[str, Json], key: str, line: int, *, most: int) -> int | None:
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Rejected(f"{key}: must be an integer from 0", line=line)
    if value >= most:
        raise Rejected(f"{key}: too large", line=line)
    return value


def _amount(record: dict[str, Json], key: str, line: int) -> float | None:
    value = record.get(key)
    if value is None:
        return None
    found = number(value)
    if found is None or found < 0:
        raise Rejected(f"{key}: must be a number from 0 to 1e14", line=line)
    return found
