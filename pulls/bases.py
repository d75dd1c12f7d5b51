"""What a pull request is compared with: its merge base, and the default branch's runs
there or at the nearest ancestors.

Guarantees: says how sure the base is. *known*: told as the merge base. *derived*: from
first parents, or the base that the host or CI names. *estimated*: no ancestor with a
run is known, so the default branch's runs before the head's time stand for them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from formats.context import matches_commit
from pulls import ancestry
from pulls.ancestry import MOST_ASKED
from pulls.commits import find_commit
from pulls.heads import matches
from pulls.models import Commit, State, Tested
from results.queries import tested

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from pulls.heads import Head
    from pulls.models import Pull, Verdict
    from results.queries.tested import RunAt


class Quality(StrEnum):
    KNOWN = "known"
    DERIVED = "derived"
    ESTIMATED = "estimated"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Base:
    """`ancestors` by environment: the runs at one commit each, the nearest first."""

    sha: str = ""
    quality: Quality = Quality.NONE
    commit: Commit | None = None
    ancestors: dict[str, list[list[RunAt]]] = field(default_factory=dict)


def base_of(
    pull: Pull, head: Head, branches: Sequence[str], *, before: Verdict | None
) -> Base:
    """Return what this head is compared with."""
    sha, quality = _merge_base(pull, head, before)
    commit = find_commit(pull.project_id, sha) if sha else None
    ancestors: dict[str, list[list[RunAt]]] = {}
    if commit is not None:
        asked = ancestry.ancestors_with_runs(commit, most=MOST_ASKED)
        ancestors = _runs_at(asked, head)
    if any(not ancestors.get(key) for key in head.runs):
        moment = _moment(head, commit)
        estimated = _by_time(pull, head, branches, moment, commit) if moment else {}
        lacking = {key for key in head.runs if not ancestors.get(key)}
        found = {key: some for key, some in estimated.items() if key in lacking}
        if found and not ancestors:
            first = next(iter(found.values()))[0][0]
            return Base(sha or first.commit, Quality.ESTIMATED, commit, found)
        # Where some environment has ancestors, one that has none was not run there.
    return Base(sha, quality, commit, ancestors)


def _merge_base(pull: Pull, head: Head, before: Verdict | None) -> tuple[str, Quality]:
    runs = [run for some in head.runs.values() for run in some]
    told = next((run.merge_base for run in runs if run.merge_base), "")
    if told and not head.queued:
        return told, Quality.KNOWN
    # A trial merge holds all of the base that it was made with.
    trial = next((run for run in runs if run.base_sha and run.commit != run.head), None)
    if trial is not None:
        return trial.base_sha, Quality.DERIVED
    stays = before is not None and before.base and matches(before.head, head.sha)
    if pull.state == State.MERGED and before is not None and stays:
        return before.base, Quality(before.quality)
    commit = find_commit(pull.project_id, head.sha) if head.sha else None
    if commit is not None:
        own = Commit.objects.filter(project_id=pull.project_id, pull=pull.number)
        mine = [commit.pk, *own.values_list("pk", flat=True)]
        landed = pull.state == State.MERGED
        found = ancestry.merge_base(commit, own=mine if landed else [])
        if found is not None:
            return found.sha, Quality.DERIVED
    said = next((run.base_sha for run in runs if run.base_sha), "") or pull.base_sha
    return (said, Quality.DERIVED) if said else ("", Quality.NONE)


def _runs_at(commits: Sequence[Commit], head: Head) -> dict[str, list[list[RunAt]]]:
    """Return the runs at these commits in the head's environments."""
    where = dict(
        Tested.objects.filter(commit__in=[one.pk for one in commits]).values_list(
            "run_id", "commit_id"
        )
    )
    by_commit: dict[tuple[str, int], list[RunAt]] = defaultdict(list)
    for run in usable(tested.runs_by_id(where)):
        by_commit[run.environment_key, where[run.id]].append(run)
    return {
        key: found
        for key in head.runs
        if (found := [by_commit[key, c.pk] for c in commits if by_commit[key, c.pk]])
    }


def _by_time(
    pull: Pull,
    head: Head,
    branches: Sequence[str],
    moment: datetime,
    base: Commit | None,
) -> dict[str, list[list[RunAt]]]:
    """Return the default branch's runs up to a moment, by commit, the newest first.

    What is known to come after the base is left out.
    """
    runs = tested.runs_of_branches(
        pull.project_id,
        branches,
        environments=list(head.runs),
        before=moment,
        most=MOST_ASKED * max(len(head.runs), 1),
    )
    later = Commit.objects.none()
    if base is not None:
        later = Commit.objects.filter(line=base.line_id, depth__gt=base.depth)
    after = Tested.objects.filter(run_id__in=[run.id for run in runs], commit__in=later)
    skipped = set(after.values_list("run_id", flat=True))
    found: dict[str, dict[str, list[RunAt]]] = defaultdict(dict)
    for run in usable(runs):
        if run.id in skipped:
            continue
        if not run.commit or not matches_commit(run.commit, head.sha):
            place = run.commit or f"run {run.id}"
            found[run.environment_key].setdefault(place, []).append(run)
    return {key: list(some.values())[:MOST_ASKED] for key, some in found.items()}


def usable(runs: Iterable[RunAt]) -> list[RunAt]:
    """Return the runs that can be compared with."""
    return [run for run in runs if not run.left_out and run.tests and run.pr is None]


def _moment(head: Head, commit: Commit | None) -> datetime | None:
    """Return up to when runs of the default branch may be ancestors."""
    if commit is not None and commit.at is not None:
        return commit.at
    runs = [run for some in head.runs.values() for run in some]
    stamps = [run.committed_at for run in runs if run.committed_at]
    starts = [run.started_at for run in runs]
    return min(stamps or starts, default=None)
