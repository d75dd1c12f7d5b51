"""The facts that a delivery holds, the same whoever hosts the repository."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class PullState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class PullFact:
    """A pull request as it was at `at`. Empty or None: not said."""

    number: int
    at: datetime | None
    state: PullState | None = None
    title: str = ""
    body: str | None = None
    draft: bool = False
    author: str = ""
    url: str = ""
    head_sha: str = ""
    head_branch: str = ""
    head_repository: str = ""
    base_sha: str = ""
    base_branch: str = ""
    merge_commit: str = ""
    opened_at: datetime | None = None
    merged_at: datetime | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CommentFact:
    """A comment as it was at `at`; `key` tells it from others of its pull request."""

    number: int
    key: str
    at: datetime | None
    made_at: datetime | None
    body: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class CommitFact:
    """`pull`: the one that its message says it lands."""

    sha: str
    at: datetime | None = None
    pull: int | None = None
    merges: bool = False  # by its message, it has a second parent


@dataclass(frozen=True, slots=True)
class PushFact:
    """Commits that a branch got, the oldest first; `before` empty: it is new."""

    branch: str
    before: str
    after: str
    forced: bool = False
    commits: tuple[CommitFact, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupFact:
    """A candidate of a merge queue: what the base becomes when it lands."""

    head_sha: str
    base_sha: str
    base_branch: str = ""
    number: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class HookFacts:
    """Everything that one delivery says."""

    repository: str = ""
    default_branch: str = ""
    pulls: tuple[PullFact, ...] = ()
    comments: tuple[CommentFact, ...] = ()
    pushes: tuple[PushFact, ...] = ()
    groups: tuple[GroupFact, ...] = ()
