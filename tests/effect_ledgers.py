"""Builders of effect ledgers: whole records with defaults, their lines, and reading."""

from __future__ import annotations

import copy
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from formats.effects.ledger import read_ledger
from formats.report import Rejected

if TYPE_CHECKING:
    from formats.effects.records import Ledger

type Fields = dict[str, Any]

DIGEST = "d1" * 32
OTHER = "0e" * 32
READS = {
    "filesystem": "filesystem_read",
    "owned": "owned_record_read",
    "external": "remote_readback",
}


def ref(*location: str, incarnation: str = "first", role: str = "target") -> Fields:
    """A reference; its kind is the location's first part."""
    return {
        "kind": location[0],
        "role": role,
        "location": list(location),
        "incarnation": incarnation,
        "snapshot_sha256": DIGEST,
    }


def file(path: str, *, root: str = "home", **fields: str) -> Fields:
    return ref("filesystem", root, path, **fields)


def obligation(target: Fields, predicate: str = "exists", expected: str = "") -> Fields:
    return {"target": target, "predicate": predicate, "expected": expected}


def claim(sequence: int, scope: list[Fields] | None = None, **fields: object) -> Fields:
    """A claim of the effect `e<sequence>`, unless it is named."""
    record: Fields = {
        "effect_id": f"e{sequence}",
        "run_id": "run",
        "action_id": f"action-{sequence}",
        "sequence": sequence,
        "operation": {
            "tool": "editor",
            "action": "save",
            "input_sha256": OTHER,
            "request_id": "",
        },
        "impact_scope": scope or [],
        "dependencies": [],
        "obligations": [],
        "parent_run_id": "",
        "external": False,
        **fields,
    }
    return {"v": 1, "type": "claim", "record": record}


def outcome(
    effect_id: str, sequence: int, execution: str = "reported_success", **fields: object
) -> Fields:
    executed = execution != "not_executed"
    record: Fields = {
        "effect_id": effect_id,
        "sequence": sequence,
        "execution": execution,
        "impact": "changed" if executed else "none",
        "facts": {
            "exit_code": None,
            "timed_out": False,
            "output_truncated": False,
            "failure_kind": "",
            "job_state": "",
            "remote_acknowledged": False,
            "external": False,
            "mutation_attempted": True,
        },
        "cleanup": "not_applicable",
        "execution_id": f"x{sequence}" if executed else "",
        "replayed": False,
        **fields,
    }
    return {"v": 1, "type": "outcome", "record": record}


def observation(resource: Fields, sequence: int, **fields: object) -> Fields:
    """A complete look at a resource that is there, by what can decide its kind."""
    record: Fields = {
        "observation_id": f"o{sequence}",
        "sequence": sequence,
        "resource": resource,
        "mechanism": READS.get(resource["kind"], "job_state"),
        "coverage": "complete",
        "source_action_id": "look",
        "source_execution_id": "",
        "exists": True,
        "content_sha256": "",
        "evidence_event_id": "",
        **fields,
    }
    return {"v": 1, "type": "observation", "record": record}


def encode(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def read(raw: bytes, *, run_ended: bool = False) -> Ledger:
    return read_ledger(io.BytesIO(raw), run_ended=run_ended)


def refuse(raw: bytes) -> Rejected:
    """Return how the whole of it was rejected; fails when it was taken."""
    with pytest.raises(Rejected) as caught:
        read(raw)
    return caught.value


def changed(line: Fields, path: str, value: object) -> Fields:
    """The line with another value at a dotted path; `...` takes the key away."""
    copied: Fields = copy.deepcopy(line)
    inner: Any = copied
    *parents, last = [int(p) if p.isdigit() else p for p in path.split(".")]
    for parent in parents:
        inner = inner[parent]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return copied
