"""The attempts of a part, written as pytest and its plugins write them. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from healthboard.demo.execution import Outcome
from healthboard.demo.texts import failure_of, line_of, reason_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from healthboard.demo.execution import Attempt

_BAD = (Outcome.FAILED, Outcome.ERROR, Outcome.RERUN)


def junit(attempts: Sequence[Attempt], *, started_at: datetime, host: str) -> bytes:
    """Write a report as pytest does, with a childless element for a rerun attempt."""
    counts = {
        outcome: sum(one.outcome is outcome for one in attempts) for outcome in Outcome
    }
    spent = max((one.end for one in attempts), default=0.0)
    skipped = counts[Outcome.SKIPPED] + counts[Outcome.XFAILED]
    head = (
        '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">'
        f'<testsuite name="pytest" errors="{counts[Outcome.ERROR]}" '
        f'failures="{counts[Outcome.FAILED]}" skipped="{skipped}" '
        f'tests="{len(attempts) - counts[Outcome.RERUN]}" time="{spent:.3f}" '
        f'timestamp="{started_at.isoformat()}" hostname="{host}">'
    )
    cases = "".join(_testcase(one) for one in attempts)
    return f"{head}{cases}</testsuite></testsuites>".encode()


def _testcase(one: Attempt) -> str:
    case = one.case
    opening = (
        f'<testcase classname="{case.classname}" name={quoteattr(case.name)} '
        f'time="{one.seconds:.3f}"'
    )
    match one.outcome:
        case Outcome.PASSED | Outcome.RERUN:
            return f"{opening} />"
        case Outcome.SKIPPED:
            reason = escape(reason_of(case))
            return (
                f'{opening}><skipped type="pytest.skip" message="{reason}">'
                f"{case.file}:{line_of(case)}: {reason}</skipped></testcase>"
            )
        case Outcome.XFAILED:
            reason = escape(reason_of(case))
            child = f'<skipped type="pytest.xfail" message="{reason}" />'
            return f"{opening}>{child}</testcase>"
        case Outcome.FAILED:
            tag, prefix = "failure", ""
        case Outcome.ERROR:
            tag, prefix = "error", "failed on setup with "
    failure = failure_of(one)
    message = f'{prefix}"{failure.message}"' if prefix else failure.message
    written = quoteattr(message, {"\n": "&#10;"})
    return (
        f"{opening}><{tag} message={written}>{escape(failure.text)}</{tag}></testcase>"
    )


def order(attempts: Sequence[Attempt], *, started_at: datetime) -> bytes:
    """Write an order trace: a line for each attempt, in order of start."""
    began = started_at.timestamp()
    lines = [
        json.dumps(
            {
                "v": 1,
                "test": one.case.nodeid,
                "worker": one.worker,
                "pid": one.pid,
                "position": one.position,
                "start": round(began + one.start, 4),
                "duration": round(one.seconds, 4),
                "outcome": str(one.outcome),
                "phase": "setup" if one.outcome is Outcome.ERROR else "call",
            }
        )
        for one in sorted(attempts, key=lambda one: one.start)
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def reportlog(attempts: Sequence[Attempt], *, started_at: datetime) -> bytes:
    """Write a report log: the phases of each test, as they end."""
    session = f"{started_at:%Y%m%d%H%M}lantern"
    records: list[dict[str, object]] = [
        {"pytest_version": "9.0.1", "$report_type": "SessionStart"}
    ]
    for one in attempts:
        records += _phases(one, began=started_at.timestamp(), session=session)
    worst = int(any(one.outcome in _BAD[:2] for one in attempts))
    records.append({"exitstatus": worst, "$report_type": "SessionFinish"})
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def _phases(one: Attempt, *, began: float, session: str) -> list[dict[str, object]]:
    case = one.case
    start = began + one.start
    told: dict[str, object] = {
        "nodeid": case.nodeid,
        "location": [case.file, line_of(case) - 1, case.name],
        "keywords": {case.name: 1},
        "outcome": "passed",
        "longrepr": None,
        "sections": [],
        "worker_id": one.worker,
        "testrun_uid": session,
        "$report_type": "TestReport",
    }
    decides = "setup" if one.outcome in (Outcome.ERROR, Outcome.SKIPPED) else "call"
    phases = []
    for when, seconds in (("setup", 0.0002), ("call", one.seconds), ("teardown", 1e-4)):
        if when == "call" and decides == "setup":
            continue
        phase = {**told, "when": when, "duration": seconds, "start": start}
        start += seconds
        phase["stop"] = start
        if when == decides:
            phase |= _verdict(one)
        phases.append(phase)
    return phases


def _verdict(one: Attempt) -> dict[str, object]:
    case = one.case
    match one.outcome:
        case Outcome.PASSED:
            return {}
        case Outcome.SKIPPED:
            told = [case.file, line_of(case), f"Skipped: {reason_of(case)}"]
            return {"outcome": "skipped", "longrepr": told}
        case Outcome.XFAILED:
            return {"outcome": "skipped", "wasxfail": f"reason: {reason_of(case)}"}
        case Outcome.RERUN:
            return {"outcome": "rerun", "longrepr": failure_of(one).text}
        case Outcome.FAILED | Outcome.ERROR:
            return {"outcome": "failed", "longrepr": failure_of(one).text}


def torn(report: bytes) -> bytes:
    """Cut a report off in the middle, as a full disk does."""
    return report[: len(report) * 3 // 5]


ERROR_PAGE = b"""<!DOCTYPE html>
<html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><p>The artifact store did not answer.</p></body></html>
"""
