"""GitHub's deliveries: `pull_request`, `issue_comment`, `push`, `merge_group`.

Guarantees: whatever JSON object comes, it is read without raising; what another event
says of is left alone, except the repository's name and default branch.
"""

from __future__ import annotations

import re
from datetime import timedelta

from formats.hooks.facts import (
    CommentFact,
    GroupFact,
    HookFacts,
    PullFact,
    PullState,
    PushFact,
)
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

_QUEUED = re.compile(r"gh-readonly-queue/.+/pr-(\d{1,10})-[0-9a-f]+")
# What a comment's payload says of its pull request is a moment older than it.
_BEFORE = timedelta(microseconds=1)


def read(event: str, document: Json) -> HookFacts:
    """Return what a delivery of this event says."""
    repository = part(document, "repository")
    facts = HookFacts(
        repository=text(repository, "full_name"),
        default_branch=text(repository, "default_branch"),
    )
    reader = _READERS.get(event)
    return reader(document, facts) if reader else facts


def _pull_request(document: Json, facts: HookFacts) -> HookFacts:
    told = part(document, "pull_request")
    at = number(told, "number")
    if at is None:
        return facts
    head, base = part(told, "head"), part(told, "base")
    state = _state(told)
    merged = state is PullState.MERGED
    pull = PullFact(
        number=at,
        at=moment(told, "updated_at"),
        state=state,
        title=text(told, "title", most=1_000),
        body=prose(told, "body"),
        draft=told.get("draft") is True,
        author=text(part(told, "user"), "login"),
        url=text(told, "html_url", most=1_000),
        head_sha=sha(head, "sha"),
        head_branch=text(head, "ref"),
        head_repository=text(part(head, "repo"), "full_name"),
        base_sha=sha(base, "sha"),
        base_branch=text(base, "ref"),
        # Of an open one it is a trial merge.
        merge_commit=sha(told, "merge_commit_sha") if merged else "",
        opened_at=moment(told, "created_at"),
        merged_at=moment(told, "merged_at"),
        closed_at=moment(told, "closed_at"),
    )
    return _with(facts, pulls=(pull,))


def _state(told: Json) -> PullState | None:
    if told.get("merged") is True or text(told, "merged_at"):
        return PullState.MERGED
    known = {"open": PullState.OPEN, "closed": PullState.CLOSED}
    return known.get(text(told, "state"))


def _issue_comment(document: Json, facts: HookFacts) -> HookFacts:
    issue, told = part(document, "issue"), part(document, "comment")
    at, key = number(issue, "number"), number_text(told)
    if at is None or not key or "pull_request" not in issue:
        return facts
    deleted = text(document, "action") == "deleted"
    comment = CommentFact(
        number=at,
        key=key,
        at=moment(told, "updated_at") or moment(told, "created_at"),
        made_at=moment(told, "created_at"),
        body="" if deleted else prose(told, "body"),
        deleted=deleted,
    )
    seen = moment(issue, "updated_at")
    pull = PullFact(
        number=at,
        at=seen - _BEFORE if seen else None,
        state=_state(
            issue | {"merged_at": part(issue, "pull_request").get("merged_at")}
        ),
        title=text(issue, "title", most=1_000),
        body=prose(issue, "body"),
        draft=issue.get("draft") is True,
        author=text(part(issue, "user"), "login"),
        url=text(part(issue, "pull_request"), "html_url", most=1_000),
        opened_at=moment(issue, "created_at"),
        closed_at=moment(issue, "closed_at"),
    )
    return _with(facts, pulls=(pull,), comments=(comment,))


def number_text(told: Json) -> str:
    """Return an id, which is larger than a pull request's number may be."""
    value = told.get("id")
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value)[:40] if whole else ""


def _push(document: Json, facts: HookFacts) -> HookFacts:
    branch = branch_of(text(document, "ref"))
    after = sha(document, "after")
    if not branch or not after or document.get("deleted") is True:
        return facts
    push = PushFact(
        branch=branch,
        before=sha(document, "before"),
        after=after,
        forced=document.get("forced") is True,
        commits=commits(document),
    )
    return _with(facts, pushes=(push,))


def _merge_group(document: Json, facts: HookFacts) -> HookFacts:
    told = part(document, "merge_group")
    head, base = sha(told, "head_sha"), sha(told, "base_sha")
    if not head or not base:
        return facts
    queued = _QUEUED.search(text(told, "head_ref"))
    group = GroupFact(
        head_sha=head,
        base_sha=base,
        base_branch=branch_of(text(told, "base_ref")),
        number=int(queued[1]) if queued and 0 < int(queued[1]) < 2**31 else None,
        at=moment(part(told, "head_commit"), "timestamp"),
    )
    return _with(facts, groups=(group,))


def _with(
    facts: HookFacts,
    *,
    pulls: tuple[PullFact, ...] = (),
    comments: tuple[CommentFact, ...] = (),
    pushes: tuple[PushFact, ...] = (),
    groups: tuple[GroupFact, ...] = (),
) -> HookFacts:
    return HookFacts(
        facts.repository, facts.default_branch, pulls, comments, pushes, groups
    )


_READERS = {
    "pull_request": _pull_request,
    "issue_comment": _issue_comment,
    "push": _push,
    "merge_group": _merge_group,
}
