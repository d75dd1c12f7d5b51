"""One event in words: what every format is made of. Pure.

Guarantees: an event of any type, with any of its data missing, has a headline; texts
are cut so that a message is never refused for its size.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

LINE = 300  # characters
LINES = 12

type Json = Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True, slots=True)
class Message:
    """What is told. `parts` are the events of a digest."""

    id: str
    type: str
    occurred_at: datetime
    project: str
    data: Json
    url: str
    parts: Sequence[Message] = field(default=())

    @property
    def headline(self) -> str:
        return cut(_HEADLINES.get(self.type, _any)(self.data, self.type))

    @property
    def lines(self) -> list[str]:
        """What the headline does not say, in a few lines of plain text."""
        found = _LINES.get(self.type, _no_lines)(self.data)
        shown = [cut(line) for line in found[:LINES]]
        if len(found) > LINES:
            shown.append(f"… and {len(found) - LINES} more")
        return shown


def as_json(message: Message) -> dict[str, Any]:  # Any: JSON
    """Return the body as the contract has it."""
    data = dict(message.data)
    if message.parts:
        data["events"] = [as_json(part) for part in message.parts]
    return {
        "id": message.id,
        "type": message.type,
        "occurred_at": message.occurred_at.isoformat().replace("+00:00", "Z"),
        "project": message.project,
        "data": data,
        "url": message.url,
    }


def as_bytes(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def cut(text: str, most: int = LINE) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _any(data: Json, kind: str) -> str:
    return str(data.get("title") or kind)


def _run_failed(data: Json, _: str) -> str:
    failing = data.get("failing", 0)
    told = f"{counted(failing, 'test')} failed" if failing else "The run failed"
    if not failing and data.get("leaks_raised"):
        told = f"{counted(data['leaks_raised'], 'leak')} failed the run"
    return f"{told} on {data.get('branch', 'the default branch')}{_of(data)}"


def _run_recovered(data: Json, _: str) -> str:
    return f"{data.get('branch', 'The default branch')} passes again{_of(data)}"


def _run_incomplete(data: Json, _: str) -> str:
    why = data.get("why") or "parts are missing"
    return f"A run on {data.get('branch', 'the default branch')} is incomplete: {why}{_of(data)}"


def _of(data: Json) -> str:
    commit, environment = data.get("commit") or "", data.get("environment") or {}
    where = ", ".join(f"{name} {value}" for name, value in environment.items())
    told = [str(commit)[:12]] if commit else []
    told += [where] if where else []
    return f" ({', '.join(told)})" if told else ""


def _test(data: Json) -> str:
    return str(data.get("nodeid") or "A test")


def _leaker_new(data: Json, _: str) -> str:
    kinds = ", ".join(data.get("kinds") or ()) or "state"
    by = f", brought by #{data['pr']}" if data.get("pr") else ""
    return f"New leaker: {_test(data)} leaks {kinds}{by}"


def _leaker_reopened(data: Json, _: str) -> str:
    return f"Leaking again: {_test(data)}"


def _leaker_fixed(data: Json, _: str) -> str:
    proven = ", and that is proven" if data.get("verified") else ""
    return f"Fixed: {_test(data)} leaks no more{proven}"


def _newly_flaky(data: Json, _: str) -> str:
    kind = data.get("class")
    return f"Newly flaky: {_test(data)}{f' ({kind})' if kind else ''}"


def _finding(data: Json, _: str) -> str:
    where = f" at {data['path']}" if data.get("path") else ""
    where += f":{data['line']}" if where and data.get("line") else ""
    on = f" on #{data['pr']}" if data.get("pr") else ""
    return f"P0{on}: {data.get('title', 'a finding')}{where}"


def _verdict(data: Json, _: str) -> str:
    number = data.get("number", "?")
    sentence = data.get("sentence") or data.get("verdict") or "has a new verdict"
    return f"#{number}: {sentence}"


def _unblocked(data: Json, _: str) -> str:
    by = data.get("by")
    return (
        f"#{data.get('number', '?')} is no longer blocked{f' by #{by}' if by else ''}"
    )


def _review(data: Json, _: str) -> str:
    return f"The weekly review of {data.get('week', 'this week')} is ready"


def _disabled(data: Json, _: str) -> str:
    name, why = data.get("endpoint", "a webhook"), data.get("reason", "")
    return f"{name} was disabled: {why}" if why else f"{name} was disabled"


def _digest(data: Json, _: str) -> str:
    number, of = data.get("count", 0), data.get("of")
    what = f"{of} event" if of else "event"
    return f"{counted(number, what)} in one digest"


def _tried(_: Json, __: str) -> str:
    return "This is a test from Healthboard"


def _no_lines(_: Json) -> list[str]:
    return []


def _causes(data: Json) -> list[str]:
    found = []
    for cause in data.get("causes") or ():
        tests = cause.get("tests") or [""]
        more = cause.get("count", len(tests)) - 1
        where = tests[0] + (f" and {counted(more, 'more')}" if more > 0 else "")
        where = where.replace("mores", "more")
        found.append(f"{cut(cause.get('message') or 'no message', 160)} – {where}")
    return found


def _leaker_lines(data: Json) -> list[str]:
    found = [f"recipe: {data['recipe']}"] if data.get("recipe") else []
    victims = data.get("victims") or ()
    return found + [f"victim: {one.get('nodeid', one)}" for one in victims]


def _verdict_lines(data: Json) -> list[str]:
    return [str(line) for line in data.get("lines") or ()]


def _finding_lines(data: Json) -> list[str]:
    return [line for line in str(data.get("detail") or "").splitlines() if line.strip()]


_HEADLINES = {
    "run.failed": _run_failed,
    "run.recovered": _run_recovered,
    "run.incomplete": _run_incomplete,
    "leaker.new": _leaker_new,
    "leaker.reopened": _leaker_reopened,
    "leaker.fixed": _leaker_fixed,
    "test.newly_flaky": _newly_flaky,
    "finding.p0": _finding,
    "pull_request.verdict": _verdict,
    "pull_request.unblocked": _unblocked,
    "review.ready": _review,
    "endpoint.disabled": _disabled,
    "digest": _digest,
    "webhook.test": _tried,
}
_LINES = {
    "run.failed": _causes,
    "leaker.new": _leaker_lines,
    "leaker.reopened": _leaker_lines,
    "finding.p0": _finding_lines,
    "pull_request.verdict": _verdict_lines,
}
