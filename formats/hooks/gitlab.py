"""GitLab's deliveries: merge requests, notes on them, pushes.

Guarantees: as of `github`. The event is told by the payload's own `object_kind`.
"""

from __future__ import annotations

from dataclasses import replace

from formats.hooks.facts import (
    CommentFact,
    HookFacts,
    PullFact,
    PullState,
    PushFact,
)
from formats.hooks.github import number_text
from formats.hooks.values import (
    Json,
    branch_of,
    commits,
    moment,
    number,
    part,
    prose,
    sha,
    text,
)

_STATES = {
    "opened": PullState.OPEN,
    "reopened": PullState.OPEN,
    "locked": PullState.OPEN,
    "closed": PullState.CLOSED,
    "merged": PullState.MERGED,
}


def read(event: str, document: Json) -> HookFacts:
    """Return what a delivery says; `event` is its header, which adds nothing."""
    del event
    project = part(document, "project")
    facts = HookFacts(
        repository=text(project, "path_with_namespace"),
        default_branch=text(project, "default_branch"),
    )
    reader = _READERS.get(text(document, "object_kind"))
    return reader(document, facts) if reader else facts


def _merge_request(document: Json, facts: HookFacts) -> HookFacts:
    told = part(document, "object_attributes")
    pull = _pull(told, author=text(part(document, "user"), "username"))
    return replace(facts, pulls=(pull,)) if pull else facts


def _pull(told: Json, *, author: str = "") -> PullFact | None:
    iid = number(told, "iid")
    if iid is None:
        return None
    state = _STATES.get(text(told, "state"))
    merged = state is PullState.MERGED
    at = moment(told, "updated_at")
    return PullFact(
        number=iid,
        at=at,
        state=state,
        title=text(told, "title", most=1_000),
        body=prose(told, "description"),
        draft=told.get("draft") is True or told.get("work_in_progress") is True,
        author=author,
        url=text(told, "url", most=1_000),
        head_sha=sha(part(told, "last_commit"), "id"),
        head_branch=text(told, "source_branch"),
        head_repository=text(part(told, "source"), "path_with_namespace"),
        base_branch=text(told, "target_branch"),
        merge_commit=_landed_as(told) if merged else "",
        opened_at=moment(told, "created_at"),
        merged_at=at if merged else None,
        closed_at=at if state is PullState.CLOSED else None,
    )


def _landed_as(told: Json) -> str:
    """With a merge commit, squashed without one, or fast-forwarded: its own head."""
    squashed = sha(told, "squash_commit_sha")
    return (
        sha(told, "merge_commit_sha")
        or squashed
        or sha(part(told, "last_commit"), "id")
    )


def _note(document: Json, facts: HookFacts) -> HookFacts:
    told = part(document, "object_attributes")
    pull = _pull(part(document, "merge_request"))
    key = number_text(told)
    if pull is None or not key or text(told, "noteable_type") != "MergeRequest":
        return facts
    deleted = text(told, "action") == "delete"
    comment = CommentFact(
        number=pull.number,
        key=key,
        at=moment(told, "updated_at") or moment(told, "created_at"),
        made_at=moment(told, "created_at"),
        body="" if deleted else prose(told, "note"),
        deleted=deleted,
    )
    return replace(facts, pulls=(pull,), comments=(comment,))


def _push(document: Json, facts: HookFacts) -> HookFacts:
    branch = branch_of(text(document, "ref"))
    after = sha(document, "after")
    if not branch or not after:
        return facts
    listed = commits(document)
    total = document.get("total_commits_count")
    whole = not isinstance(total, int) or total <= len(listed)
    push = PushFact(
        branch=branch,
        before=sha(document, "before"),
        after=after,
        # It does not say whether it was forced; without its commits nothing is sure.
        forced=not listed,
        commits=listed if whole else listed[-1:],
    )
    return replace(facts, pushes=(push,))


_READERS = {"merge_request": _merge_request, "note": _note, "push": _push}
