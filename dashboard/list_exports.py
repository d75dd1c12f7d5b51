"""Lists as rows for CSV, by the filters of their pages.

Guarantees: the rows are those that the page lists, in its order; at most `MOST`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from dashboard import leaker_filters, run_filters
from dashboard.filters import choice, number, text
from dashboard.leak_words import CLASSES
from findings import effect_queries
from findings.effect_queries import EffectFilters
from formats.effects.judgement import Verdict
from ingest.models import State, Upload
from leaks import queries as leaks
from projects import options
from pulls import queries as pulls
from pulls.models import State as PullState
from pulls.models import Word
from results.queries import cases, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from projects.models import Project

    type Row = Iterable[object]
    type Table = tuple[tuple[str, ...], Iterator[Row]]

MOST = 20_000
_AT_ONCE = 500
RUNS = ("id", "name", "outcome", "branch", "commit", "pr", "started_at", "duration_s")
COUNTS = ("tests", "passed", "failed", "errors", "skipped", "flaky")
TESTS = ("id", "nodeid", "state", "file", "first_seen", "last_seen")
STATS = ("runs", "failed", "errors", "flaky", "fail_rate", "p50_s", "p95_s", "total_s")
FLAKY = ("test", "nodeid", "name", "since", "failed_runs", "affected_prs", "lost_s")
LEAKERS = ("id", "nodeid", "state", "source", "kinds", "owner", "ticket", "first_at")
COSTS = ("first_pr", "failed_results", "failed_runs", "pulls", "lost_s")
EFFECTS = (
    "effect_id",
    "tool",
    "action",
    "execution",
    "impact",
    "verdict",
    "reason",
    "cleanup",
    "external",
    "disclosure",
)
PULLS = ("number", "title", "state", "author", "word", "red", "sentence", "changed_at")
UPLOADS = ("id", "state", "received_at", "processed_at", "wire_bytes", "unpacked_bytes")


def table_of(what: str, project: Project, query: Mapping[str, str]) -> Table:
    """Return a list's columns and rows."""
    return _TABLES[what](project, query)


def _all(listed: Callable[..., Any], **known: Any) -> Iterator[Any]:  # Any: rows
    """Walk a list that comes in pages."""
    cursor, given = None, 0
    while given < MOST:
        page = listed(cursor=cursor, limit=_AT_ONCE, **known)
        yield from page.items
        given += len(page.items)
        cursor = page.next
        if cursor is None:
            return


def _runs(project: Project, query: Mapping[str, str]) -> Table:
    known = run_filters.read_filters(query, zone=project.zone).known()
    rows = _all(runs.list_runs, project_id=project.pk, **known)
    return (*RUNS, *COUNTS), (
        (*_of(row, RUNS), *_of(row.counts, COUNTS)) for row in rows
    )


def _tests(project: Project, query: Mapping[str, str]) -> Table:
    known: dict[str, Any] = {  # Any: arguments of the lists
        "project_id": project.pk,
        "q": text(query, "q") or None,
        "file": text(query, "file") or None,
        "state": choice(query, "state", ("active", "gone")) or None,
        "window": _window(project, query),
    }
    by = choice(query, "sort", cases.RANKINGS)
    rows = (
        _all(cases.rank_cases, by=by, **known)
        if by
        else _all(cases.list_cases, by_name=True, **known)
    )
    return (*TESTS, *STATS), (
        (*_of(row, TESTS), *_of(row.stats, STATS)) for row in rows
    )


def _flaky(project: Project, query: Mapping[str, str]) -> Table:
    rows = _all(
        leaks.list_unstable,
        project_id=project.pk,
        window=_window(project, query),
        name=choice(query, "class", CLASSES) or None,
        q=text(query, "q") or None,
    )
    return FLAKY, (_of(row, FLAKY) for row in rows)


def _leakers(project: Project, query: Mapping[str, str]) -> Table:
    known = leaker_filters.read_filters(query).known()
    rows = _all(leaks.list_leakers, project_id=project.pk, **known)
    return (*LEAKERS, *COSTS, "victims"), (
        (*_of(row, (*LEAKERS, *COSTS)), len(row.victims)) for row in rows
    )


def _uploads(project: Project, query: Mapping[str, str]) -> Table:
    rows = Upload.objects.filter(project=project).order_by("-received_at", "-id")
    if state := choice(query, "state", State.values):
        rows = rows.filter(state=state)
    return (*UPLOADS, "problem"), (
        (*_of(row, UPLOADS), row.failure or _first(row.errors)) for row in rows[:MOST]
    )


def _effects(project: Project, query: Mapping[str, str]) -> Table:
    filters = EffectFilters(
        run=number(query, "run", default=0, high=2**63 - 1) or None,
        verdict=choice(query, "verdict", [one.value for one in Verdict]),
        external=bool(text(query, "external")),
        effect=text(query, "effect"),
    )
    listed = partial(effect_queries.list_effects, project.pk, filters)
    return EFFECTS, (_of(row, EFFECTS) for row in _all(listed))


def _pulls(project: Project, query: Mapping[str, str]) -> Table:
    rows = _all(
        pulls.summaries,
        project_id=project.pk,
        state=choice(query, "state", PullState.values) or None,
        word=choice(query, "verdict", Word.values) or None,
        q=text(query, "q") or None,
    )
    return PULLS, (_of(row, PULLS) for row in rows)


def _first(errors: list[dict[str, Any]]) -> str:  # Any: JSON
    return str(errors[0].get("message", "")) if errors else ""


def _window(project: Project, query: Mapping[str, str]) -> int:
    default = options.read(project).window_days
    return number(query, "window", default=default, low=1, high=365)


def _of(row: object, names: Iterable[str]) -> list[object]:
    return [getattr(row, name) for name in names]


_TABLES: dict[str, Callable[[Project, Mapping[str, str]], Table]] = {
    "runs": _runs,
    "tests": _tests,
    "flaky": _flaky,
    "leakers": _leakers,
    "effects": _effects,
    "pulls": _pulls,
    "uploads": _uploads,
}
EXPORTED = tuple(_TABLES)
