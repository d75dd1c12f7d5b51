"""What findings are linked to: the tests that they speak of, and the leaks of those.

Guarantees: three queries for any number of findings; a link is something that the
finding literally names, or the test that its effect belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from findings.models import Effect
from formats.reviews.references import References, references
from formats.reviews.review import Finding, Severity
from results.queries.mentions import Leaking, Mentioned, leaking, mentioned, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from findings.shapes import FindingRow

_MOST_NAMED = 50  # of one page of findings; the rest is not linked


@dataclass(frozen=True, slots=True)
class Links:
    pulls: tuple[int, ...] = ()
    tests: list[Mentioned] = field(default_factory=list)
    leaks: list[Leaking] = field(default_factory=list)


def links_of(project_id: int, rows: Sequence[FindingRow]) -> dict[int, Links]:
    """Return what each finding is linked to, by its id."""
    spoken = {row.id: _spoken(row) for row in rows}
    files = {file for each in spoken.values() for file in each.test_files}
    names = {name for each in spoken.values() for name in each.tests}
    tests = mentioned(
        project_id,
        files=sorted(files)[:_MOST_NAMED],
        names=sorted(names)[:_MOST_NAMED],
    )
    owners = _owners(rows)
    families = {family for each in spoken.values() for family in each.gates}
    leaks = leaking(
        project_id,
        tests={test.id for test in tests} | set(owners.values()),
        families=families,
    )
    return {
        row.id: _links(row, spoken[row.id], tests, leaks, owners.get(row.key))
        for row in rows
    }


def _spoken(row: FindingRow) -> References:
    if row.source != "review":
        return References()
    said = Finding(Severity(row.severity), row.path, row.title, detail=row.detail)
    return references(said)


def _owners(rows: Sequence[FindingRow]) -> dict[str, int]:
    """The tests that the effects of findings belong to, by key."""
    keys = [row.key for row in rows if row.source == "effect"]
    found = Effect.objects.filter(key__in=keys, test__isnull=False)
    return dict(found.order_by("pk").values_list("key", "test"))


def _links(
    row: FindingRow,
    spoken: References,
    tests: Sequence[Mentioned],
    leaks: Sequence[Leaking],
    owner: int | None,
) -> Links:
    mine = [test for test in tests if _names(spoken, test)]
    ids = {test.id for test in mine} | ({owner} if owner else set())
    found = [
        leak
        for leak in leaks
        if leak.test in ids or leak.kind.partition(".")[0] in spoken.gates
    ]
    pulls = tuple(number for number in spoken.pulls if number != row.pr)
    return Links(pulls, mine, found)


def _names(spoken: References, test: Mentioned) -> bool:
    return test.name in spoken.tests or any(
        test.file == file
        or test.file.endswith(f"/{file}")
        or test.nodeid.startswith(starts_of(file))
        for file in spoken.test_files
    )
