"""The stage that takes facts of pull requests and commits from uploads.

From a hook's payload, or from the context of what CI uploaded. Guarantees: facts are
stored whole with the end of the work, or not at all; the same upload a second time, or
uploads in another order, come to the same rows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.db import transaction

from formats.context import read_context
from formats.hooks.reading import read_hook
from ingest import handovers, kinds
from ingest.documents import documents
from ingest.readers import FOR_PULLS
from pulls import ancestry, contexts, marking, repositories, telling
from pulls.commits import find_commit
from pulls.models import Commit, Pull

if TYPE_CHECKING:
    from datetime import datetime

    from formats.hooks.facts import GroupFact, HookFacts, PullFact, PushFact
    from ingest.models import Handover, Upload
    from projects.models import Project

STAGE = FOR_PULLS


def claim(now: datetime) -> Handover | None:
    """Take the next upload that was handed over."""
    return handovers.claim(STAGE, now)


def give_back(handover: Handover, error: str) -> None:
    handovers.give_back(handover, error)


def waiting(project_id: int | None) -> int:
    """Count the uploads, of one project or of all, whose facts are not taken yet."""
    return handovers.waiting(STAGE, project_id)


def work(handover: Handover) -> None:
    """Read an upload's facts and store them."""
    upload = handover.upload
    hooks = _read(upload)
    context = read_context(json.dumps(upload.context).encode())
    project = upload.project
    with transaction.atomic():
        handovers.finish(handover)
        repository = repositories.hold(project)
        project.refresh_from_db()
        for facts in hooks:
            name = facts.repository[:255]
            if name and name != repository.name:
                repository.name = name
                repository.save(update_fields=["name"])
            repositories.follow(repository, project, told=facts.default_branch)
            store_hook(project, facts)
        repositories.follow(repository, project, told="")
        contexts.store(project, context, run_id=upload.run_id)


def _read(upload: Upload) -> list[HookFacts]:
    """Read what hooks delivered; of all else the body is not even opened."""
    if not any(entry["kind"] in kinds.HOOKS for entry in upload.files):
        return []
    return [
        read_hook(document.kind, upload.event, document.stream)
        for document in documents(upload, kinds.HOOKS)
    ]


def store_hook(project: Project, facts: HookFacts) -> None:
    """Store what one delivery says."""
    for push in facts.pushes:
        _push(project, push)
    for group in facts.groups:
        _group(project, group)
    for told in facts.pulls:
        pull = telling.tell_pull(project, told)
        _land(project, pull, told)
    for comment in facts.comments:
        telling.tell_comment(telling.pull_of(project, comment.number), comment)
    numbers = {one.number for one in facts.pulls}
    for number in sorted(numbers | {one.number for one in facts.comments}):
        telling.reread(project, telling.pull_of(project, number))


def _push(project: Project, push: PushFact) -> None:
    newest = ancestry.learn(project.pk, _chain(push))
    if newest is None:
        return
    times = {one.sha: one.at for one in push.commits}
    for name, at in times.items():
        known = find_commit(project.pk, name) if at else None
        if known is not None:
            ancestry.note_time(known, at)
    if push.branch != project.default_branch:
        return
    ancestry.mark_default(newest)
    landed = {one.sha: one.pull for one in push.commits if one.pull}
    repositories.tie(project.pk, landed)
    for sha, number in landed.items():
        pull = telling.pull_of(project, number)
        telling.tell_landed(pull, sha=sha, at=times[sha])
    marking.mark_those(marking.open_pulls(project.pk) & contexts.unsure_of())


def _chain(push: PushFact) -> list[str]:
    """Return first parents, the newest first, as far as a push tells them.

    Its commits are in a row only where none of them merges another branch; of one that
    was forced `before` is no ancestor; of very many not all are told.
    """
    listed = [one.sha for one in reversed(push.commits)]
    in_a_row = (
        bool(listed)
        and listed[0] == push.after
        and len(listed) < MOST_TOLD
        and not any(one.merges for one in push.commits)
    )
    before = [] if push.forced or not push.before else [push.before]
    return [*listed, *before] if in_a_row else [push.after, *before]


MOST_TOLD = 2_048  # GitHub tells no more of one push


def _group(project: Project, group: GroupFact) -> None:
    candidate = ancestry.learn(project.pk, [group.head_sha, group.base_sha])
    if candidate is None or group.number is None:
        return
    ancestry.note_time(candidate, group.at)
    Commit.objects.filter(pk=candidate.pk).update(queued=group.number)
    telling.pull_of(project, group.number)
    marking.mark(project.pk, [group.number])


def _land(project: Project, pull: Pull, told: PullFact) -> None:
    """Tie a merged pull request to the commit that it became."""
    if not told.merge_commit:
        return
    commit = ancestry.learn(project.pk, [told.merge_commit])
    if commit is None:
        return
    ancestry.note_time(commit, told.merged_at)
    Commit.objects.filter(pk=commit.pk).update(pull=pull.number)
    if pull.base_branch == project.default_branch:
        ancestry.mark_default(commit)
