"""Search over tests, files, commits, pull requests and runs of a project.

Guarantees: five queries, whatever is asked; the most exact kinds come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Max, Q

from results.models import Run, TestCase
from results.queries.shapes import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST_COMMIT = 4  # characters
_MOST_PR = 2**31 - 1


def search(project_id: int, text: str, *, limit: int = 20) -> list[Hit]:
    """Find what has the text in its name; at most `limit` of each kind."""
    text = text.strip()
    if not text:
        return []
    return [
        *_pull_requests(project_id, text),
        *_commits(project_id, text, limit),
        *_runs(project_id, text, limit),
        *_files(project_id, text, limit),
        *_tests(project_id, text, limit),
    ]


def _pull_requests(project_id: int, text: str) -> Iterator[Hit]:
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        return
    if int(digits) > _MOST_PR:
        return
    runs = Run.objects.filter(project_id=project_id, pr=int(digits)).count()
    if runs:
        yield Hit("pr", f"#{int(digits)}", int(digits), _runs_in_words(runs))


def _commits(project_id: int, text: str, limit: int) -> Iterator[Hit]:
    if len(text) < _LEAST_COMMIT:
        return
    runs = Run.objects.filter(
        Q(commit__istartswith=text) | Q(head_sha__istartswith=text),
        project_id=project_id,
    )
    for commit, total in (
        runs.values_list("commit")
        .annotate(total=Count("pk"), newest=Max("started_at"))
        .order_by("-newest")
        .values_list("commit", "total")[:limit]
    ):
        yield Hit("commit", commit, None, _runs_in_words(total))


def _runs(project_id: int, text: str, limit: int) -> Iterator[Hit]:
    runs = Run.objects.filter(
        Q(name__icontains=text) | Q(branch__icontains=text), project_id=project_id
    )
    for pk, name, branch in runs.order_by("-started_at").values_list(
        "pk", "name", "branch"
    )[:limit]:
        yield Hit("run", name, pk, branch)


def _files(project_id: int, text: str, limit: int) -> Iterator[Hit]:
    cases = TestCase.objects.filter(project_id=project_id, file__icontains=text)
    for file, total in (
        cases.values("file")
        .annotate(total=Count("pk"))
        .order_by("file")
        .values_list("file", "total")[:limit]
    ):
        yield Hit("file", file, None, "1 test" if total == 1 else f"{total} tests")


def _tests(project_id: int, text: str, limit: int) -> Iterator[Hit]:
    cases = TestCase.objects.filter(project_id=project_id, nodeid__icontains=text)
    for pk, nodeid, file in cases.order_by("number").values_list(
        "pk", "nodeid", "file"
    )[:limit]:
        yield Hit("test", nodeid, pk, file)


def _runs_in_words(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
