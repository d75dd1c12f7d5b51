"""Near-duplicate findings of one pull request as one cluster.

Guarantees: the same findings and decisions give the same clusters in whatever order
they come; each finding is in exactly one cluster; what a person split stays apart and
what a person joined stays together, however alike or different it is, and the later
of two decisions on one pair counts; only such a decision puts severities more than
one step apart into one cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from formats.reviews.likeness import Link, links
from formats.reviews.review import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Hand(StrEnum):
    SPLIT = "split"
    JOIN = "join"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided: each of `these` apart from, or with, all of `those`.

    A join of `these` alone is a join of them with each other.
    """

    hand: Hand
    these: frozenset[str]  # keys
    those: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Raised:
    """A finding, folded, as it stands on one pull request (None: on none)."""

    key: str
    pr: int | None
    finding: Finding


@dataclass(frozen=True, slots=True)
class Cluster:
    """`members` are keys, worst first; `links` say why they are together."""

    pr: int | None
    members: tuple[str, ...]
    severity: Severity
    reviewers: tuple[str, ...]  # all who raised a member; empty: none is stated
    links: tuple[Link, ...] = ()
    by_hand: bool = False

    @property
    def key(self) -> str:
        """Stays as long as this member does."""
        return min(self.members)


def cluster(
    raised: Iterable[Raised], decisions: Sequence[Decision] = ()
) -> list[Cluster]:
    """Return the clusters, worst first; `decisions` are oldest first."""
    pulls: dict[int | None, dict[str, Finding]] = {}
    for each in raised:
        pulls.setdefault(each.pr, {})[each.key] = each.finding
    found = [
        made
        for pr, findings in pulls.items()
        for made in _of_pull(pr, findings, decisions)
    ]
    return sorted(found, key=_order)


def _order(each: Cluster) -> tuple[object, ...]:
    pr = each.pr if each.pr is not None else -1
    return each.severity, -len(each.members), pr, each.key


def _of_pull(
    pr: int | None, findings: Mapping[str, Finding], decisions: Sequence[Decision]
) -> list[Cluster]:
    groups = _Groups(findings)
    joined = _by_hand(groups, findings, decisions)
    used = []
    for link in links(findings):
        if groups.together(link.left, link.right) or groups.may_join(link):
            groups.join(link.left, link.right)
            used.append(link)
    reasons: dict[str, list[Link]] = {}
    for link in used:
        reasons.setdefault(groups.root(link.left), []).append(link)
    return [
        _made(pr, members, findings, reasons.get(root, []), joined)
        for root, members in groups.members.items()
    ]


def _made(
    pr: int | None,
    members: set[str],
    findings: Mapping[str, Finding],
    reasons: list[Link],
    joined: set[str],
) -> Cluster:
    ordered = sorted(members, key=lambda key: _worst_first(key, findings[key]))
    reviewers = {name for key in members for name in findings[key].reviewers}
    return Cluster(
        pr=pr,
        members=tuple(ordered),
        severity=min(findings[key].severity for key in members),
        reviewers=tuple(sorted(reviewers)),
        links=tuple(reasons),
        by_hand=len(members & joined) > 1,
    )


def _worst_first(key: str, finding: Finding) -> tuple[object, ...]:
    return finding.severity, finding.path, finding.line or 0, key


def _by_hand(
    groups: _Groups, findings: Mapping[str, Finding], decisions: Sequence[Decision]
) -> set[str]:
    """Apply the decisions, the newest first, so that none undoes a later one."""
    joined: set[str] = set()
    for decision in reversed(decisions):
        these = sorted(decision.these & findings.keys())
        those = sorted(decision.those & findings.keys())
        if decision.hand is Hand.SPLIT:
            for one in these:
                for other in those:
                    groups.part(one, other)
            continue
        heads: list[str] = []
        for one in sorted({*these, *those}):
            head = next((head for head in heads if not groups.apart(head, one)), None)
            if head is None:
                heads.append(one)
                continue
            groups.join(head, one)
            joined.update((head, one))
    return joined


class _Groups:
    """Sets of keys that grow together, and what must not."""

    def __init__(self, findings: Mapping[str, Finding]) -> None:
        self.members = {key: {key} for key in findings}
        self._of = {key: key for key in findings}
        self._apart: dict[str, set[str]] = {}  # by root: keys it must not hold
        self._steps = {key: _span(f.severity.step) for key, f in findings.items()}

    def root(self, key: str) -> str:
        return self._of[key]

    def together(self, one: str, other: str) -> bool:
        return self._of[one] == self._of[other]

    def apart(self, one: str, other: str) -> bool:
        left, right = self._of[one], self._of[other]
        # What one side must not hold the other side knows too: asking one suffices.
        forbidden = self._apart.get(left, set())
        return not forbidden.isdisjoint(self.members[right])

    def part(self, one: str, other: str) -> None:
        """Keep two keys apart, unless a later decision joined them."""
        if not self.together(one, other):
            self._apart.setdefault(self._of[one], set()).add(other)
            self._apart.setdefault(self._of[other], set()).add(one)

    def may_join(self, link: Link) -> bool:
        left, right = self._of[link.left], self._of[link.right]
        low = min(self._steps[left][0], self._steps[right][0])
        high = max(self._steps[left][1], self._steps[right][1])
        return high - low <= 1 and not self.apart(link.left, link.right)

    def join(self, one: str, other: str) -> None:
        kept, gone = self._of[one], self._of[other]
        if kept == gone:
            return
        if len(self.members[kept]) < len(self.members[gone]):
            kept, gone = gone, kept
        moved = self.members.pop(gone)
        self.members[kept] |= moved
        for key in moved:
            self._of[key] = kept
        if gone in self._apart:
            self._apart.setdefault(kept, set()).update(self._apart.pop(gone))
        steps, others = self._steps[kept], self._steps.pop(gone)
        self._steps[kept] = (min(steps[0], others[0]), max(steps[1], others[1]))


def _span(step: int) -> tuple[int, int]:
    return step, step
