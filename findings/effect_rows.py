"""A ledger's effects as rows, as they were judged.

Guarantees: rows are written as a draft that counts nowhere, in short transactions of
their own; everything that a page shows of an effect is in its row.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from findings.models import Effect, Ledger
from formats.effects.findings import findings
from formats.effects.judging import judge
from formats.effects.leaks import looks_like_test
from formats.effects.records import Kind
from formats.identity import Identifier
from formats.reviews.review import MOST_PATH, MOST_TITLE
from projects import options
from results import testcases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from formats.context import Context
    from formats.effects.findings import Finding as Worth
    from formats.effects.judgement import Checked, Judged
    from formats.effects.records import Ledger as Export
    from formats.effects.records import Observation, ResourceRef
    from ingest.models import Upload

_AT_ONCE = 1_000
# Any, below: JSON values.


@dataclass(frozen=True, slots=True)
class Place:
    """Where a ledger stands: the file of an upload, and what its context says."""

    upload: Upload
    file: int
    context: Context


def write_draft(place: Place, export: Export, *, renew: Callable[[], None]) -> Ledger:
    """Judge a ledger and store it as a draft; `renew` is called now and then."""
    judged = judge(export)
    renew()
    worth = {each.effect_id: each for each in findings(judged)}
    upload, context = place.upload, place.context
    ledger = Ledger.objects.create(
        project_id=upload.project_id,
        upload=upload,
        file=place.file,
        at=upload.received_at,
        run_id=upload.run_id,
        pr=context.pr,
        commit=context.commit,
        run_ended=export.run_ended,
        notes=[{"message": note.message, "line": note.line} for note in export.notes],
        effects_count=len(judged),
    )
    tests = _tests(upload, context, judged)
    for start in range(0, len(judged), _AT_ONCE):
        batch = enumerate(judged[start : start + _AT_ONCE], start + 1)
        Effect.objects.bulk_create(
            _row(ledger, number, each, worth.get(each.effect_id), context, tests)
            for number, each in batch
        )
        renew()
    return ledger


def key_of(lineage: str, effect_id: str) -> str:
    """Return the key under which an effect is followed from export to export."""
    text = f"{len(lineage)}:{lineage}{effect_id}"
    return blake2b(text.encode(), digest_size=16).hexdigest()


def _tests(
    upload: Upload, context: Context, judged: Iterable[Judged]
) -> dict[str, int]:
    """Return the test cases that the context or an effect names, by that name."""
    names = {each.request_id for each in judged if each.request_id}
    names |= {context.test} if context.test else set()
    rules = options.identity_rules(options.read(upload.project))
    identify = Identifier(rules).identify_nodeid
    keys = {name: identify(name).key for name in names}
    found = testcases.find(upload.project_id, set(keys.values()))
    return {name: found[key] for name, key in keys.items() if key in found}


def _row(
    ledger: Ledger,
    number: int,
    effect: Judged,
    worth: Worth | None,
    context: Context,
    tests: dict[str, int],
) -> Effect:
    name = context.test or effect.request_id
    return Effect(
        ledger=ledger,
        number=number,
        key=key_of(effect.run_id, effect.effect_id),
        effect_id=effect.effect_id,
        lineage=effect.run_id,
        action_id=effect.action_id,
        tool=effect.tool,
        action=effect.action,
        request_id=effect.request_id,
        execution=effect.execution.value,
        impact=effect.impact.value if effect.impact else "",
        verdict=effect.verdict.value,
        reason=effect.reason,
        cleanup=effect.cleanup.value,
        unresolved_impact=effect.unresolved_impact,
        external=effect.external,
        disclosure=effect.disclosure.value,
        superseded_by=effect.superseded_by,
        scope_known=effect.scope_known,
        replayed=effect.replayed,
        running_at_end=effect.running_at_end,
        targets=[_resource(each) for each in effect.targets],
        detail=_detail(effect),
        finding=_worth(effect, worth) if worth else None,
        test_id=tests.get(name),
        test_name=name if name in tests or looks_like_test(name) else "",
    )


def _worth(effect: Judged, worth: Worth) -> dict[str, Any]:
    return {
        "severity": worth.severity.value,
        "title": worth.title[:MOST_TITLE],
        "detail": worth.detail,
        "path": _path(effect),
        "rule": f"effect.{worth.causes[0]}",
    }


def _path(effect: Judged) -> str:
    """The first file that the effect is about, if it is about one."""
    files = (each for each in effect.targets if each.kind is Kind.FILESYSTEM)
    return next((each.location[-1][:MOST_PATH] for each in files), "")


def _resource(ref: ResourceRef) -> dict[str, Any]:
    return {
        "kind": ref.kind.value,
        "role": ref.role,
        "location": list(ref.location),
        "incarnation": ref.incarnation,
    }


def _detail(effect: Judged) -> dict[str, Any]:
    return {
        "obligations": [_obligation(each) for each in effect.obligations],
        "timeline": [
            {
                "kind": event.kind.value,
                # As text: a browser's numbers are not that long.
                "sequence": str(event.sequence),
                "state": event.state,
                "text": event.text,
                "line": event.line,
            }
            for event in effect.timeline
        ],
    }


def _obligation(checked: Checked) -> dict[str, Any]:
    return {
        "target": _resource(checked.target),
        "predicate": checked.predicate.value,
        "expected": checked.expected,
        "verdict": checked.verdict.value,
        "reason": checked.reason,
        "freshness": checked.freshness.value if checked.freshness else "",
        "observation": _observation(checked.observation),
    }


def _observation(seen: Observation | None) -> str:
    return seen.observation_id if seen else ""
