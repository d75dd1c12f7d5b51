"""What the context of an upload says of its pull request and its commits.

Callers hold the `Repository`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from formats.context import matches_commit
from pulls import ancestry, marking, telling
from pulls.commits import find_commit
from pulls.models import Commit, Tested
from results.queries import tested

if TYPE_CHECKING:
    from formats.context import Context
    from projects.models import Project
    from results.queries.tested import RunAt


def store(project: Project, context: Context, *, run_id: int | None) -> None:
    """Store what an upload says, and mark the verdicts that its run concerns."""
    run = tested.run_at(run_id) if run_id is not None else None
    if run is None:
        if context.pr is not None:  # a review
            marking.mark(project.pk, [telling.pull_of(project, context.pr).number])
        return
    head = _learn(project, context)
    if run.pr is None:
        _note_run(project, run)
    else:
        _note_pull(project, context, run)
    if head is not None and context.committed_at is not None:
        ancestry.note_time(head, context.committed_at)


def _learn(project: Project, context: Context) -> Commit | None:
    """Store the chain of first parents, and what is on the default branch."""
    head = context.head
    chain = list(context.ancestry)
    if head and not (chain and matches_commit(head, chain[0])):
        chain.insert(0, head)
    newest = ancestry.learn(project.pk, chain)
    if context.merge_base and context.base_branch in ("", project.default_branch):
        base = ancestry.learn(project.pk, [context.merge_base])
        if base is not None:
            ancestry.mark_default(base)
    return newest


def _note_run(project: Project, run: RunAt) -> None:
    """Note where a run outside of any pull request ran."""
    commit = find_commit(project.pk, run.commit)
    if commit is None and run.commit:
        commit = ancestry.learn(project.pk, [run.commit])
    on_default = run.branch == project.default_branch
    if commit is not None:
        Tested.objects.update_or_create(
            run_id=run.id,
            defaults={
                "project": project,
                "commit": commit,
                "branch": run.branch,
            },
        )
        Commit.objects.filter(pk=commit.pk, tested=False).update(tested=True)
        if on_default:
            ancestry.mark_default(commit)
    queued = commit.queued if commit else None
    marking.mark(project.pk, [queued] if queued else [])
    if on_default or queued:
        marking.mark_those(marking.open_pulls(project.pk) & _concerned(commit))


def _concerned(commit: Commit | None) -> Q:
    """The pull requests whose verdict a run of the default branch may change: those
    that speak of some test, have no sure base, or stand on this very commit."""
    unsure = unsure_of()
    return unsure if commit is None else unsure | Q(verdict__base=commit.sha)


def unsure_of() -> Q:
    """The verdicts that rest on what may become known yet."""
    speaks = Q(verdict__speaks__gt=0)
    estimated = Q(verdict__quality__in=("", "estimated"))
    return Q(verdict=None) | speaks | estimated


def _note_pull(project: Project, context: Context, run: RunAt) -> None:
    """Make the pull request known, as far as no host tells of it."""
    number = run.pr
    if number is None:
        return
    pull = telling.pull_of(project, number)
    if not pull.refs_key:
        said = {
            "head_branch": context.branch[:255],
            "base_branch": context.base_branch[:255],
        }
        telling.change(pull, {name: value for name, value in said.items() if value})
    marking.mark(project.pk, [number])
