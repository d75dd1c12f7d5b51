"""Reading pull requests: for the pages and the API.

Guarantees: a fixed number of queries each, whatever the data; the highest number
first. A verdict is read as it was stored; only who waits for whom is told anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q

from pulls import graph as graphs
from pulls.journey import journey
from pulls.models import Pull, State, Verdict, Word
from pulls.shapes import (
    EdgeRow,
    Page,
    PullRow,
    PullSummary,
    told_of,
)
from results.queries import cursors

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from pulls.graph import Edges

__all__ = [
    "count_pulls",
    "get_pull",
    "graph",
    "journey",
    "list_pulls",
    "open_part",
    "summaries",
]

graph = graphs.graph
open_part = graphs.open_part


def list_pulls(
    project_id: int,
    *,
    state: str | None = None,
    word: str | None = None,
    red: bool | None = None,
    q: str | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[PullRow]:
    """List pull requests with all their evidence, the newest first."""
    found = _chosen(project_id, state=state, word=word, red=red, q=q, cursor=cursor)
    rows = list(found.select_related("verdict")[: limit + 1])
    edges = graphs.load(project_id)
    items = [_row(pull, edges) for pull in rows[:limit]]
    return Page(items, _next(rows, limit))


def summaries(
    project_id: int,
    *,
    state: str | None = None,
    word: str | None = None,
    red: bool | None = None,
    q: str | None = None,
    cursor: str | None = None,
    limit: int = 100,
) -> Page[PullSummary]:
    """List pull requests with their verdicts in short, the newest first; one query.

    `q` is part of a title, a number or an author.
    """
    found = _chosen(project_id, state=state, word=word, red=red, q=q, cursor=cursor)
    told = ("verdict__word", "verdict__red", "verdict__sentence")
    fields = ("number", "title", "state", "author", "draft", *told)
    times = ("verdict__changed_at", "verdict__at")
    rows = list(found.values_list(*fields, *times)[: limit + 1])
    items = [_summary(row) for row in rows[:limit]]
    more = cursors.write(items[-1].number) if len(rows) > limit else None
    return Page(items, more)


def count_pulls(project_id: int) -> dict[str, int]:
    """Count the open pull requests by word, and as "open" and "red"; one query."""
    rows = Pull.objects.filter(project_id=project_id, state=State.OPEN)
    words = {word.value: Count("pk", filter=Q(verdict__word=word)) for word in Word}
    red = Count("pk", filter=Q(verdict__red=True))
    counts: dict[str, int] = rows.aggregate(open=Count("pk"), red=red, **words)
    return counts


def get_pull(project_id: int, number: int) -> PullRow | None:
    """Return one pull request with all its evidence."""
    pull = (
        Pull.objects.filter(project_id=project_id, number=number)
        .select_related("verdict")
        .first()
    )
    return _row(pull, graphs.load(project_id)) if pull is not None else None


def _summary(row: tuple[Any, ...]) -> PullSummary:  # Any: a value of any column
    number, title, state, author, draft, word, red, sentence, *times = row
    return PullSummary(
        number=number,
        title=title,
        state=state,
        author=author,
        draft=draft,
        word=word or "",
        red=bool(red),
        sentence=sentence or "",
        changed_at=times[0],
        at=times[1],
    )


def _chosen(
    project_id: int,
    *,
    state: str | None,
    word: str | None,
    red: bool | None,
    q: str | None,
    cursor: str | None,
) -> QuerySet[Pull]:
    found = Pull.objects.filter(project_id=project_id)
    exact = {"state": state, "verdict__word": word, "verdict__red": red}
    found = found.filter(**{k: v for k, v in exact.items() if v is not None})
    if q:
        asked = q.strip().lstrip("#")
        text = Q(title__icontains=asked) | Q(author__icontains=asked)
        short = asked.isascii() and asked.isdigit() and len(asked) < 10
        found = found.filter(text | Q(number=int(asked)) if short else text)
    if cursor is not None:
        found = found.filter(number__lt=cursors.read(cursor, int)[0])
    return found.order_by("-number")


def _next(rows: list[Pull], limit: int) -> str | None:
    return cursors.write(rows[limit - 1].number) if len(rows) > limit else None


def _row(pull: Pull, edges: Edges) -> PullRow:
    verdict: Verdict | None = getattr(pull, "verdict", None)
    told = told_of(verdict.detail) if verdict is not None else None
    return PullRow(
        id=pull.pk,
        number=pull.number,
        title=pull.title,
        state=pull.state,
        author=pull.author,
        url=pull.url,
        draft=pull.draft,
        head=pull.head_sha or (told.head if told else ""),
        head_branch=pull.head_branch,
        head_repository=pull.head_repository,
        base_branch=pull.base_branch,
        merge_commit=pull.merge_commit or pull.landed_as,
        opened_at=pull.opened_at,
        merged_at=pull.merged_at or pull.landed_at,
        closed_at=pull.closed_at,
        pending=pull.due_at is not None,
        told=told,
        at=verdict.at if verdict else None,
        changed_at=verdict.changed_at if verdict else None,
        blockers=graphs.blockers(edges, pull.number),
        blocks=graphs.waiting_for(edges, pull.number),
        edges=_touching(edges, pull.number),
    )


def _touching(edges: Edges, number: int) -> list[EdgeRow]:
    return [row for row in edges.rows if number in (row.from_number, row.to)]
