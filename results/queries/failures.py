"""The failures of a run: grouped by fingerprint, and one with its whole text."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from formats.outcomes import BY_CODE, CODE, FAILING
from results.details import unpack_text
from results.models import Detail, Failure
from results.queries.merged import load_runs
from results.queries.rows import nodeids_of
from results.queries.shapes import FailureDetail, FailureGroup, FailureRow

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ROWS = 50
MOST_GROUPS = 100
_FAILING = [CODE[outcome] for outcome in sorted(FAILING)]


class _Light(NamedTuple):
    """A failure without its texts."""

    pk: int
    test_id: int
    number: int
    shard_id: int
    attempt: int
    outcome: int
    detail_id: int
    group: bytes


def failure_groups(run_id: int) -> list[FailureGroup]:
    """Group a run's failures by what they share, the largest group first."""
    found = _read(run_id)
    counted = _counted(run_id, found)
    groups: dict[bytes, list[_Light]] = defaultdict(list)
    for one in found:
        groups[one.group].append(one)
    ranked = sorted(
        groups.values(),
        key=lambda some: (-sum(o.pk in counted for o in some), -len(some), some[0].pk),
    )[:MOST_GROUPS]
    shown = [
        sorted(some, key=lambda one: (one.pk not in counted, one.number))[:MOST_ROWS]
        for some in ranked
    ]
    flat = [one for some in shown for one in some]
    details = Detail.objects.in_bulk({one.detail_id for one in flat})
    nodeids = nodeids_of([one.test_id for one in flat])
    return [
        FailureGroup(
            group=some[0].group.hex(),
            title=details[rows[0].detail_id].title,
            total=sum(one.pk in counted for one in some),
            earlier=sum(one.pk not in counted for one in some),
            rows=[_row(one, details, nodeids, counted) for one in rows],
        )
        for some, rows in zip(ranked, shown, strict=True)
    ]


def _read(run_id: int) -> list[_Light]:
    rows = Failure.objects.filter(run_id=run_id, outcome__in=_FAILING).order_by("pk")
    fields = ("pk", "test_id", "test__number", "shard_id", "attempt", "outcome")
    return [
        _Light(pk, test_id, number, shard_id, attempt, outcome, detail_id, bytes(group))
        for (
            pk,
            test_id,
            number,
            shard_id,
            attempt,
            outcome,
            detail_id,
            group,
        ) in rows.values_list(*fields, "detail_id", "detail__fingerprint")
    ]


def failure_detail(failure_id: int) -> FailureDetail | None:
    """Return one failure with its text."""
    failure = (
        Failure.objects.select_related("detail", "test", "run", "shard")
        .filter(pk=failure_id)
        .first()
    )
    if failure is None:
        return None
    detail = failure.detail
    text = unpack_text(detail.text)
    return FailureDetail(
        id=failure.pk,
        project_id=failure.run.project_id,
        run=failure.run_id,
        run_name=failure.run.name,
        test=failure.test_id,
        nodeid=failure.test.nodeid,
        outcome=BY_CODE[failure.outcome].value,
        attempt=failure.attempt,
        upload=failure.shard.upload_id,
        group=bytes(detail.fingerprint).hex(),
        title=detail.title,
        message=detail.message,
        text=text,
        text_bytes=detail.text_bytes,
        cut=detail.text_bytes != len(text.encode()),
    )


def _counted(run_id: int, found: Iterable[_Light]) -> set[int]:
    """Return the failures that are the run's outcome for their test, one each."""
    loaded = load_runs([run_id])[run_id]
    columns, source = loaded.merged.columns, loaded.merged.source
    outcome = {
        number: (code, loaded.shards[place].pk)
        for number, code, place in zip(
            columns.tests.tolist(),
            columns.outcome.tolist(),
            source.tolist(),
            strict=True,
        )
        if code in _FAILING
    }
    return {
        one.pk
        for one in found
        if one.attempt == 0 and outcome.get(one.number) == (one.outcome, one.shard_id)
    }


def _row(
    one: _Light, details: dict[int, Detail], nodeids: dict[int, str], counted: set[int]
) -> FailureRow:
    return FailureRow(
        failure=one.pk,
        test=one.test_id,
        nodeid=nodeids[one.test_id],
        outcome=BY_CODE[one.outcome].value,
        message=details[one.detail_id].message,
        counted=one.pk in counted,
    )
