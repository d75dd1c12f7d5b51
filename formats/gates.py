"""What gates say: `healthboard.gate/1`, and a state guard's own list.

Guarantees: any bytes are a `GateReading` or `Rejected` with the path of the value that
is wrong (`leaks[3].item_count: …`), never half of a file; kinds and gates that are not
known are kept as they are; no text holds what a database cannot store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from formats.clipping import clip
from formats.report import Note, Rejected
from formats.reviews.fields import (
    below,
    check_boolean,
    check_integer,
    check_line,
    check_list,
    check_object,
    check_text,
    load,
    refuse,
    shown,
)
from formats.whole import read_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "healthboard.gate/1"
ENTRY = "control_plane.entry"
STATE_GUARD = "control_plane"

MOST_LEAKS = 10_000
MOST_BYTES = 64 << 20
MOST_ITEMS = 1_000  # that are kept of one leak; its count stays
MOST_NAME = 1 << 20  # characters of a node id
MOST_TEXT = 64 << 10
_MOST_WORD = 200  # of a kind, gate, phase or worker
_MOST_ITEM = 10_000

# Any, below: JSON values that are being checked.


@dataclass(frozen=True, slots=True)
class EntryDetail:
    """What a guard of a control plane says of one entry."""

    path: str
    reason: str
    agent_session: str | None = None
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class LeakFact:
    """One leak as a gate tells it; `test_nodeid` is None at session level."""

    test_nodeid: str | None
    kind: str  # family.change
    gate: str = ""
    items: tuple[str, ...] = ()
    item_count: int = 0  # ≥ len(items): the sender may have cut the list
    phase: str = ""
    worker: str = ""
    position: int | None = None
    enforced: bool = True
    opted_out: bool = False
    message: str = ""
    recipe: str = ""
    detail: EntryDetail | None = None

    @property
    def raised(self) -> bool:
        """Whether it makes its run a failed one."""
        return self.enforced and not self.opted_out


@dataclass(frozen=True, slots=True)
class GateReading:
    """What one file says."""

    leaks: list[LeakFact]
    notes: list[Note] = field(default_factory=list)


def read_gate(stream: BinaryIO) -> GateReading:
    """Read a seekable stream that holds a gate's payload, plain or compressed."""
    raw = read_whole(stream, most=MOST_BYTES)
    if not raw.strip():
        raise Rejected("the file is empty")
    return gate_of(load(raw))


def gate_of(value: Any) -> GateReading:
    """Check a decoded payload."""
    if isinstance(value, list):
        return GateReading([_entry(one, n) for n, one in enumerate(_capped(value, ""))])
    if not isinstance(value, dict):
        refuse("", "must be an object or a list")
    schema = value.get("schema")
    if schema is None:
        refuse("schema", "missing")
    if schema != SCHEMA:
        what = shown(schema) if isinstance(schema, str) else "another value"
        refuse("schema", f"must be {SCHEMA}, is {what}")
    gate = _word(value, "gate", "")
    if "leaks" not in value:
        refuse("leaks", "missing")
    notes: list[Note] = []
    leaks = [
        _leak(one, f"leaks[{n}]", gate, notes)
        for n, one in enumerate(_capped(value["leaks"], "leaks"))
    ]
    return GateReading(leaks, notes)


def _capped(value: Any, path: str) -> list[Any]:
    if isinstance(value, list) and len(value) > MOST_LEAKS:
        refuse(path, f"more than {MOST_LEAKS:,} leaks")
    return check_list(value, path, most=MOST_LEAKS)


def _leak(value: Any, path: str, gate: str, notes: list[Note]) -> LeakFact:
    leak = check_object(value, path)
    if leak.get("kind") is None:
        refuse(below(path, "kind"), "missing")
    kind = check_line(leak["kind"], below(path, "kind"), most=_MOST_WORD)
    items = _items(leak, path)
    return LeakFact(
        test_nodeid=_test(leak, path),
        kind=kind,
        gate=_word(leak, "gate", path) or gate,
        items=_kept(items, path, notes),
        item_count=_count(leak, path, least=len(items)),
        phase=_word(leak, "phase", path),
        worker=_word(leak, "worker", path),
        position=_position(leak, path),
        enforced=_flag(leak, "enforced", path, default=True),
        opted_out=_flag(leak, "opted_out", path, default=False),
        message=_text(leak, "message", path),
        recipe=_text(leak, "recipe", path),
        detail=_detail(leak, path),
    )


def _test(leak: Mapping[str, Any], path: str) -> str | None:
    if leak.get("test") is None:
        return None
    return check_text(leak["test"], below(path, "test"), most=MOST_NAME, filled=True)


def _items(leak: Mapping[str, Any], path: str) -> tuple[str, ...]:
    if leak.get("items") is None:
        return ()
    place = below(path, "items")
    return tuple(
        check_text(one, f"{place}[{n}]", most=_MOST_ITEM)
        for n, one in enumerate(check_list(leak["items"], place, most=1_000_000))
    )


def _kept(items: tuple[str, ...], path: str, notes: list[Note]) -> tuple[str, ...]:
    if len(items) > MOST_ITEMS and not notes:
        text = f"{path}.items: of {len(items):,} items {MOST_ITEMS:,} are kept"
        notes.append(Note("items-left-out", text))
    return items[:MOST_ITEMS]


def _count(leak: Mapping[str, Any], path: str, *, least: int) -> int:
    if leak.get("item_count") is None:
        return least
    place = below(path, "item_count")
    count = check_integer(leak["item_count"], place, least=0)
    if count < least:
        refuse(place, f"{count:,}, although items has {least:,}")
    return count


def _position(leak: Mapping[str, Any], path: str) -> int | None:
    if leak.get("position") is None:
        return None
    return check_integer(leak["position"], below(path, "position"), least=0)


def _flag(leak: Mapping[str, Any], key: str, path: str, *, default: bool) -> bool:
    value = leak.get(key)
    return default if value is None else check_boolean(value, below(path, key))


def _word(leak: Mapping[str, Any], key: str, path: str) -> str:
    if leak.get(key) is None:
        return ""
    return check_line(leak[key], below(path, key), most=_MOST_WORD, filled=False)


def _text(leak: Mapping[str, Any], key: str, path: str) -> str:
    if leak.get(key) is None:
        return ""
    return clip(check_text(leak[key], below(path, key), most=MOST_BYTES), MOST_TEXT)


def _detail(leak: Mapping[str, Any], path: str) -> EntryDetail | None:
    if leak.get("detail") is None:
        return None
    place = below(path, "detail")
    return _entry_detail(check_object(leak["detail"], place), place)


def _entry(value: Any, number: int) -> LeakFact:
    """One entry of a state guard's list."""
    path = f"[{number}]"
    return entry_leak(_entry_detail(check_object(value, path), path))


def entry_leak(detail: EntryDetail, *, message: str = "") -> LeakFact:
    """The leak that one entry in a control plane is."""
    return LeakFact(
        test_nodeid=None,
        kind=ENTRY,
        gate=STATE_GUARD,
        items=(detail.path,),
        item_count=1,
        message=message,
        detail=detail,
    )


def _entry_detail(entry: dict[str, Any], path: str) -> EntryDetail:
    for key in ("path", "reason"):
        if entry.get(key) is None:
            refuse(below(path, key), "missing")
    session, prompt = (
        None
        if entry.get(key) is None
        else clip(check_text(entry[key], below(path, key), most=MOST_BYTES), MOST_TEXT)
        for key in ("agent_session", "prompt")
    )
    return EntryDetail(
        path=check_text(
            entry["path"], below(path, "path"), most=_MOST_ITEM, filled=True
        ),
        reason=check_text(
            entry["reason"], below(path, "reason"), most=_MOST_ITEM, filled=True
        ),
        agent_session=session,
        prompt=prompt,
    )
