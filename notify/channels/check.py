"""A check of one commit, as both hosts take it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notify.channels.words import Annotation

NAME = "Healthboard"


@dataclass(frozen=True, slots=True)
class Check:
    """`key` is the same for the same words: what was sent already is known by it."""

    head: str
    key: str
    conclusion: str  # failure, success or neutral
    title: str
    summary: str
    url: str
    annotations: Sequence[Annotation] = field(default=())
    name: str = NAME


class Host(Protocol):
    @property
    def most_comment(self) -> int: ...
    def find_comment(self, number: int, mark: str) -> str: ...
    def make_comment(self, number: int, body: str) -> str: ...
    def edit_comment(self, number: int, comment: str, body: str) -> None: ...
    def put_check(self, check: Check) -> None: ...
