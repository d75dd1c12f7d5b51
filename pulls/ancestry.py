"""Commits and their first parents: stored as they become known, asked as a range.

Guarantees: a commit has one parent for ever, the first that was told; facts may come in
any order and any number of times; no facts, however wrong, make a ring; the ancestors
of a commit are found with two queries a line, and a repository that is pushed to is a
handful of lines, whatever its length.

Callers that write hold the project's `Repository` row (`repositories.hold`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F, Q

from formats.hooks.values import as_sha
from pulls.commits import find_commits, is_short
from pulls.models import Commit, Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

MOST_LINES = 1_000  # that a walk goes through
MOST_ASKED = 50


def learn(project_id: int, chain: Sequence[str]) -> Commit | None:
    """Store a chain of first parents, the newest first; return that one."""
    shas = list(dict.fromkeys(sha for sha in map(as_sha, chain) if sha))
    if not shas:
        return None
    known = find_commits(project_id, shas)
    parent: Commit | None = None
    unknown: list[str] = []
    for sha in reversed(shas):
        found = known.get(sha)
        if found is None:
            unknown.append(sha)
            continue
        if parent is None:
            _put_before(project_id, found, unknown)
        elif unknown or not _adjoin(parent, found):
            made = _extend(project_id, parent.pk, unknown)
            _join(made[-1].pk if made else parent.pk, found.pk)
        parent, unknown = found, []
    if parent is None:
        made = _new_line(project_id, unknown)
    else:
        made = _extend(project_id, parent.pk, unknown)
    newest = made[-1] if made else parent
    return Commit.objects.get(pk=newest.pk) if newest else None


def note_time(commit: Commit, at: datetime | None) -> None:
    if at is not None and commit.at is None:
        Commit.objects.filter(pk=commit.pk).update(at=at)


def mark_default(commit: Commit) -> None:
    """Note that a commit, and with it all before it, is on the default branch."""
    _mark(commit.line_id, commit.depth)


def _adjoin(parent: Commit, child: Commit) -> bool:
    """Tell whether both stand beside each other, as they were read together: what is
    moved since is moved together."""
    return parent.line_id == child.line_id and parent.depth + 1 == child.depth


def _mark(line: int, depth: int) -> None:
    for _ in range(MOST_LINES):
        lower = Q(default_to=None) | Q(default_to__lt=depth)
        if not Line.objects.filter(lower, pk=line).update(default_to=depth):
            return
        above = Line.objects.filter(pk=line).values_list("parent", "parent_depth")
        parent, parent_depth = above.get()
        if parent is None or parent_depth is None:
            return
        line, depth = parent, parent_depth


def forget_default(project_id: int) -> None:
    """Take all marks away: another branch is the default one now."""
    Line.objects.filter(project_id=project_id).update(default_to=None)


def steps(commit: Commit) -> Iterator[tuple[Line, int]]:
    """Yield the lines that hold a commit's ancestors, with the depth of the newest;
    one query each."""
    line_id: int | None = commit.line_id
    depth: int | None = commit.depth
    for _ in range(MOST_LINES):
        line = Line.objects.filter(pk=line_id).first() if line_id else None
        if line is None or depth is None:
            return
        yield line, depth
        line_id, depth = line.parent, line.parent_depth


def merge_base(head: Commit, *, own: Sequence[int] = ()) -> Commit | None:
    """Return the newest ancestor on the default branch; of the commits of ids `own`,
    which a pull request landed itself, none counts."""
    for line, depth in steps(head):
        if line.default_to is None:
            continue
        top = min(depth, line.default_to)
        found = Commit.objects.filter(line=line, depth__lte=top).exclude(pk__in=own)
        commit = found.order_by("-depth").first()
        if commit is not None:
            return commit
    return None


def ancestors_with_runs(commit: Commit, *, most: int = MOST_ASKED) -> list[Commit]:
    """Return a commit and its ancestors as far as they were tested, the newest first."""
    found: list[Commit] = []
    for line, depth in steps(commit):
        tested = Commit.objects.filter(line=line, depth__lte=depth, tested=True)
        found += tested.order_by("-depth")[: most - len(found)]
        if len(found) >= most:
            break
    return found


def descends(newer: Commit, older: Commit) -> bool | None:
    """Tell whether `older` is an ancestor of `newer`; None where the way ends."""
    last: Line | None = None
    for line, depth in steps(newer):
        if line.pk == older.line_id:
            return older.depth <= depth
        last = line
    return None if last is None or last.parent is None else False


def landed_between(after: Commit, upto: Commit) -> list[int]:
    """Return the pull requests that landed in (after, upto], by first parents."""
    found: list[int] = []
    for line, depth in steps(upto):
        here = Commit.objects.filter(line=line, depth__lte=depth, pull__isnull=False)
        if line.pk == after.line_id:
            here = here.filter(depth__gt=after.depth)
        found += here.order_by("depth").values_list("pull", flat=True)[:100]  # type: ignore[arg-type] # not null
        if line.pk == after.line_id:
            return list(dict.fromkeys(found))
    return [upto.pull] if upto.pull else []


def _new_line(project_id: int, roots: Sequence[str]) -> list[Commit]:
    """Store commits of which nothing is known, the oldest first."""
    if not roots:
        return []
    line = Line.objects.create(project_id=project_id)
    return _create(project_id, line.pk, roots, first=0)


def _create(
    project_id: int, line_id: int, shas: Sequence[str], *, first: int
) -> list[Commit]:
    rows = [
        Commit(
            project_id=project_id,
            sha=sha,
            short=is_short(sha),
            line_id=line_id,
            depth=depth,
        )
        for depth, sha in enumerate(shas, first)
    ]
    return Commit.objects.bulk_create(rows, batch_size=500)


def _extend(project_id: int, parent_id: int, shas: Sequence[str]) -> list[Commit]:
    """Store descendants, the oldest first: at the end of their parent's line, or as a
    line of their own."""
    if not shas:
        return []
    parent = Commit.objects.get(pk=parent_id)
    tip = _ends(parent.line_id)[1]
    if parent.depth == tip:
        return _create(project_id, parent.line_id, shas, first=tip + 1)
    line = Line.objects.create(
        project_id=project_id, parent=parent.line_id, parent_depth=parent.depth
    )
    return _create(project_id, line.pk, shas, first=0)


def _put_before(project_id: int, child: Commit, roots: Sequence[str]) -> None:
    """Store what came before a commit, the oldest first, if nothing is known yet."""
    if not roots:
        return
    child.refresh_from_db()
    line = Line.objects.get(pk=child.line_id)
    start = _ends(line.pk)[0]
    if child.depth == start and line.parent is None:
        _create(project_id, line.pk, roots, first=start - len(roots))
    else:
        _new_line(project_id, roots)


def _join(parent_id: int, child_id: int) -> None:
    """Note the parent of a commit that had none."""
    parent, child = (Commit.objects.get(pk=pk) for pk in (parent_id, child_id))
    line = Line.objects.get(pk=child.line_id)
    start, end = _ends(line.pk)
    if child.depth != start or line.parent is not None or parent.pk == child.pk:
        return
    if any(each.pk == line.pk for each, _ in steps(parent)):
        return  # it would be its own ancestor
    above = Line.objects.get(pk=parent.line_id)
    first, tip = _ends(above.pk)
    left: tuple[int | None, int | None] = (above.parent, above.parent_depth)
    if parent.depth != tip:
        left = (above.pk, parent.depth)
        Line.objects.filter(pk=line.pk).update(parent=left[0], parent_depth=left[1])
    elif end - start <= tip - first:
        _move(line, above, by=tip + 1 - start)
    else:
        _move(above, line, by=start - 1 - tip)
        Line.objects.filter(pk=line.pk).update(parent=left[0], parent_depth=left[1])
    if line.default_to is not None and left[0] is not None and left[1] is not None:
        _mark(left[0], left[1])


def _move(line: Line, to: Line, *, by: int) -> None:
    """Let a line be a part of another one."""
    Commit.objects.filter(line=line).update(line=to.pk, depth=F("depth") + by)
    Line.objects.filter(project_id=line.project_id, parent=line.pk).update(
        parent=to.pk, parent_depth=F("parent_depth") + by
    )
    moved = None if line.default_to is None else line.default_to + by
    ends = [each for each in (moved, to.default_to) if each is not None]
    Line.objects.filter(pk=to.pk).update(default_to=max(ends, default=None))
    Line.objects.filter(pk=line.pk).delete()


def _ends(line_id: int) -> tuple[int, int]:
    """Return the first and the last depth of a line; asked for together, SQLite would
    look at all of it."""
    depths = Commit.objects.filter(line=line_id).values_list("depth", flat=True)
    first = depths.order_by("depth").first()
    last = depths.order_by("-depth").first()
    return first or 0, last or 0
