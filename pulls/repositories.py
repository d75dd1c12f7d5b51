"""What is known of a project's repository, and the lock on its facts.

Guarantees: who writes facts of pull requests or commits of a project holds its row
until the transaction ends, so facts that come at once are stored one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import F

from projects import administration
from pulls import ancestry
from pulls.commits import find_commits
from pulls.models import Commit, Repository, Tested

if TYPE_CHECKING:
    from projects.models import Project

MOST_FORMER = 10


def hold(project: Project) -> Repository:
    """Return the row, made if need be, and hold it; a transaction must be open."""
    mine = Repository.objects.filter(project=project)
    if not mine.update(version=F("version") + 1):
        row = Repository(project=project, default_branch=project.default_branch)
        Repository.objects.bulk_create([row], ignore_conflicts=True)
        mine.update(version=F("version") + 1)
    return mine.get()


def names_of(project: Project) -> set[str]:
    """Return the names under which its own pull requests are referred to."""
    told = Repository.objects.filter(project=project).values_list("name", flat=True)
    return {project.slug, *told} - {""}


def default_branches(project: Project) -> list[str]:
    """Return the default branch, and those that it followed."""
    row = Repository.objects.filter(project=project).first()
    former = row.former if row else []
    return list(dict.fromkeys([project.default_branch, *former]))


def follow(repository: Repository, project: Project, *, told: str) -> None:
    """Note what a hook calls the default branch; the project's own setting wins."""
    if told and told != repository.told_branch:
        Repository.objects.filter(pk=repository.pk).update(told_branch=told)
        administration.follow_default_branch(
            project, told, before=repository.told_branch
        )
        project.refresh_from_db(fields=["default_branch"])
    if project.default_branch != repository.default_branch:
        rename(repository, project)


def rename(repository: Repository, project: Project) -> None:
    """Mark commits by the default branch that the project has now.

    What was on the branch that was the default one before stays on it where it was
    before this one: a branch that is renamed keeps its history.
    """
    former = [repository.default_branch, *repository.former]
    former = [name for name in dict.fromkeys(former) if name != project.default_branch]
    repository.former = former[:MOST_FORMER]
    repository.default_branch = project.default_branch
    Repository.objects.filter(pk=repository.pk).update(
        former=repository.former, default_branch=repository.default_branch
    )
    ancestry.forget_default(project.pk)
    tested = Tested.objects.filter(project=project, branch=project.default_branch)
    ids = tested.values_list("commit_id", flat=True).distinct()
    tips = Commit.objects.filter(pk__in=list(ids)).order_by("line_id", "-depth")
    seen: set[int] = set()
    for commit in tips:
        if commit.line_id not in seen:
            seen.add(commit.line_id)
            ancestry.mark_default(commit)


def tie(project_id: int, shas: dict[str, int]) -> None:
    """Note which pull requests landed as which commits."""
    found = find_commits(project_id, shas)
    for sha, commit in found.items():
        if commit.pull != shas[sha]:
            Commit.objects.filter(pk=commit.pk).update(pull=shas[sha])
