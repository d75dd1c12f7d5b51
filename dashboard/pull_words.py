"""How pull requests and their verdicts are said, and what is grouped with what. Pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.attribution import Share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pulls.shapes import FindingItem, Item, Told

WORDS = {
    "yours": "yours",
    "blocked": "blocked",
    "unknown": "unknown",
    "not_yours": "not yours",
    "clear": "clear",
}
STATES = {"open": "open", "merged": "merged", "closed": "closed"}
SOURCES = {
    "declared": "by its texts",
    "computed": "by its runs",
    "manual": "by hand",
}
MOST_ITEMS = 200  # of one group that a page shows
_COMMAND = "To be sure, run: "
_REBASE = "Rebase onto "

# In the order of what to look at first: (share, title, what it means).
_GROUPS = (
    (Share.INTRODUCED, "Introduced", "not seen at the base: these are its own"),
    (Share.UNKNOWN, "Unknown", "no run can say whose these are"),
    (Share.INHERITED, "Inherited", "seen at the base too: not its own"),
    (
        Share.FIXED_UPSTREAM,
        "Inherited, fixed upstream",
        "the default branch no longer shows these: a rebase clears them",
    ),
    (Share.FIXED, "Fixed", "the base shows these, this does not"),
)


@dataclass(frozen=True, slots=True)
class Group:
    """Leaks, failures and findings of one share; the lists may be cut, totals not."""

    share: str
    title: str
    meaning: str
    failures: list[Item]
    leaks: list[Item]
    findings: int
    total_failures: int
    total_leaks: int

    @property
    def total(self) -> int:
        return self.total_failures + self.total_leaks + self.findings


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do; `command` is what can be copied."""

    text: str
    command: str = ""


def groups_of(told: Told) -> list[Group]:
    """Return what it fails, leaks and is accused of, by whose it is; empty ones too."""
    return [_group(told, share, title, says) for share, title, says in _GROUPS]


def _group(told: Told, share: str, title: str, meaning: str) -> Group:
    failures = [one for one in told.failures if one.share == share]
    leaks = [one for one in told.leaks if one.share == share]
    return Group(
        share=share,
        title=title,
        meaning=meaning,
        failures=failures[:MOST_ITEMS],
        leaks=leaks[:MOST_ITEMS],
        findings=sum(one.share == share for one in told.findings),
        total_failures=len(failures),
        total_leaks=len(leaks),
    )


def advice_of(told: Told) -> list[Advice]:
    """Return what to do, with the commands in it apart."""
    return [_advice(text, told) for text in told.advice]


def _advice(text: str, told: Told) -> Advice:
    if text.startswith(_COMMAND):
        return Advice("To be sure, run:", text.removeprefix(_COMMAND))
    if text.startswith(_REBASE):
        items: Sequence[Item] = [*told.failures, *told.leaks]
        newest = max(
            (one.gone for one in items if one.gone and one.gone.commit),
            key=lambda gone: gone.run or 0,
            default=None,
        )
        if newest is not None:
            onto = shlex.quote(newest.commit)
            return Advice(text, f"git fetch origin && git rebase {onto}")
    return Advice(text)


def ranked(findings: Sequence[FindingItem]) -> list[FindingItem]:
    """Return findings, the severest first, and of those its own before inherited."""
    own = {Share.INTRODUCED: 0, Share.UNKNOWN: 1}
    return sorted(
        findings,
        key=lambda one: (
            one.severity,
            own.get(Share(one.share), 2),
            one.due,
            one.id,
        ),
    )


def source_words(source: str) -> str:
    """Say where an edge is known from."""
    return SOURCES.get(source, source)


def share_words(share: str) -> str:
    """Write a share: `inherited, fixed upstream`."""
    titles = {key.value: title for key, title, _ in _GROUPS}
    return titles.get(share, share).lower()
