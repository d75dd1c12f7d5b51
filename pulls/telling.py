"""Storing what a pull request's host, or a person, says of it.

Guarantees: the sender's clock decides, not the order of arrival: the same facts in any
order, any number of times, come to the same rows. Callers hold the `Repository`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from formats.hooks.facts import PullState
from formats.phrases import Kind, read_edges
from pulls import marking, repositories
from pulls.models import Comment, Edge, Pull, Source, State
from results.storable import storable

if TYPE_CHECKING:
    from formats.hooks.facts import CommentFact, PullFact
    from projects.models import Project

# Any, below: a value of any field.
_RANK = {None: 0, PullState.OPEN: 1, PullState.CLOSED: 2, PullState.MERGED: 3}
_NEVER = datetime(1, 1, 1, tzinfo=UTC)
_REFS = (
    *("head_sha", "head_branch", "head_repository", "base_sha", "base_branch"),
    "merge_commit",
)
_TOLD = ("title", "author", "url", "draft", "opened_at", "merged_at", "closed_at")


def pull_of(project: Project, number: int) -> Pull:
    """Return the pull request of this number, made if need be."""
    found = Pull.objects.filter(project=project, number=number).first()
    if found is None:
        row = Pull(project=project, number=number, created_at=timezone.now())
        Pull.objects.bulk_create([row], ignore_conflicts=True)
        found = Pull.objects.get(project=project, number=number)
    return found


def tell_pull(project: Project, fact: PullFact) -> Pull:
    """Store what a host says of a pull request, as far as it is the latest word.

    A delivery that says all replaces all. What a comment's delivery says in passing
    counts only until there is one.
    """
    pull = pull_of(project, fact.number)
    key = _key(fact.at, _RANK[fact.state], asdict(fact))
    whole = bool(fact.head_sha)
    if key <= (pull.refs_key if whole else pull.refs_key or pull.told_key):
        return pull
    if not whole and pull.refs_key:
        return pull
    values: dict[str, Any] = {name: getattr(fact, name) for name in _TOLD}
    values |= {"body": fact.body or "", "told_key": key, "told_at": fact.at}
    values["told_state"] = fact.state.value if fact.state is not None else ""
    if whole:
        values |= {name: getattr(fact, name) for name in _REFS}
        values |= {"refs_key": key, "refs_at": fact.at}
    change(pull, values)
    return pull


def tell_comment(pull: Pull, fact: CommentFact) -> None:
    """Store a comment, as far as it is the latest edit. A deleted one stays so."""
    key = _key(fact.at, int(fact.deleted), asdict(fact))
    if fact.deleted:
        key = f"~{key}"  # after every edit
    row = Comment.objects.filter(pull=pull, key=fact.key).first()
    if row is None:
        row = Comment(pull=pull, key=fact.key)
    elif key <= row.told_key:
        return
    row.body, row.deleted, row.told_key = fact.body, fact.deleted, key
    row.made_at = fact.made_at or row.made_at or fact.at
    row.save()


def tell_landed(pull: Pull, *, sha: str, at: datetime | None) -> None:
    """Note that a commit of the default branch says that it lands this one."""
    if pull.landed_at is not None and (at is None or at >= pull.landed_at):
        return
    change(pull, {"landed_as": sha, "landed_at": at or timezone.now()})


def change(pull: Pull, values: dict[str, Any]) -> bool:
    """Give a pull request new values; those that wait for it hear of a new state."""
    before = pull.state
    for name, value in values.items():
        setattr(pull, name, storable(value) if isinstance(value, str) else value)
    pull.state = _state(pull)
    changed = {**values, "state": pull.state}
    Pull.objects.filter(pk=pull.pk).update(
        **{name: getattr(pull, name) for name in changed}
    )
    if before != pull.state:
        marking.mark_waiting(pull.project_id, pull.number)
    marking.mark(pull.project_id, [pull.number])
    return before != pull.state


def reread(project: Project, pull: Pull) -> None:
    """Read the dependencies that a pull request's texts declare anew."""
    comments = Comment.objects.filter(pull=pull, deleted=False)
    ordered = sorted(
        comments.values_list("made_at", "key", "body"),
        key=lambda one: (one[0] or _NEVER, one[1].zfill(40)),
    )
    texts = [pull.title, pull.body, *(body for *_, body in ordered)]
    own = repositories.names_of(project)
    wanted: dict[tuple[int, int, str, str], str] = {}
    for edge in read_edges(texts, number=pull.number, own=own):
        here, there = pull.number, edge.to.number
        if edge.reverse and edge.to.repository:
            continue  # another repository's pull request waits: its own matter
        ends = (there, here) if edge.reverse else (here, there)
        wanted[*ends, edge.to.repository[:255], edge.kind.value] = edge.phrase
    _write(project, pull, wanted)


def _write(
    project: Project, pull: Pull, wanted: dict[tuple[int, int, str, str], str]
) -> None:
    mine = Edge.objects.filter(
        project=project, origin=pull.number, source=Source.DECLARED
    )
    known = {
        (row.from_number, row.to_number, row.to_repository, row.kind): row.pk
        for row in mine
    }
    gone = {key: pk for key, pk in known.items() if key not in wanted}
    Edge.objects.filter(pk__in=list(gone.values())).delete()
    Edge.objects.bulk_create(
        Edge(
            project=project,
            origin=pull.number,
            from_number=key[0],
            to_number=key[1],
            to_repository=key[2],
            kind=key[3],
            source=Source.DECLARED,
            reason=phrase[:300],
        )
        for key, phrase in wanted.items()
        if key not in known
    )
    changed = {key for key in (*gone, *wanted) if key in gone or key not in known}
    waiting = {key[0] for key in changed if key[3] == Kind.BLOCKING}
    marking.mark(project.pk, waiting)
    for number in waiting:
        marking.mark_waiting(project.pk, number)


def _state(pull: Pull) -> State:
    """The latest of what the host, a commit's message and a person say."""
    said = [
        (pull.landed_at, 0, State.MERGED if pull.landed_at else ""),
        (pull.told_at or _NEVER, 1, pull.told_state),
        (pull.hand_at, 2, pull.hand_state),
    ]
    known = [(at or _NEVER, place, state) for at, place, state in said if state]
    return State(max(known)[2]) if known else State.OPEN


def _key(at: datetime | None, rank: int, content: dict[str, Any]) -> str:
    """Return what sorts facts by the sender's clock, equal ones always alike."""
    raw = json.dumps(content, sort_keys=True, default=str).encode()
    digest = hashlib.blake2b(raw, digest_size=16).hexdigest()
    return f"{(at or _NEVER).astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}|{rank}|{digest}"
