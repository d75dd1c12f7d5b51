"""The life of a leaker as events in order: introduced, victims, decisions, fix, proof.

Guarantees: pure; the oldest first; nothing is told that is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.fixed import Fix, in_words, proof
from dashboard.leak_words import STATES
from formats.outcomes import FAILING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from leaks.shapes import DecisionRow, LeakerRow, PairRow, ProofRow
    from results.queries.shapes import HistoryCell

_NAMED_VICTIMS = 8
_FIXED = ("fixed", "verified_fixed")
_IDLE = ("skipped", "xfailed")


@dataclass(frozen=True, slots=True)
class Event:
    """`look` is that of a badge; `test` and `run` are what it speaks of."""

    at: datetime
    look: str
    word: str
    text: str = ""
    by: str = ""
    note: str = ""
    run: int | None = None
    test: int | None = None
    nodeid: str = ""


@dataclass(frozen=True, slots=True)
class FixSeen:
    """What the runs since a fix say, in words."""

    words: str
    sure: bool
    broken: bool
    victim: PairRow


def story_of(
    leaker: LeakerRow, decisions: Iterable[DecisionRow], proofs: Iterable[ProofRow]
) -> list[Event]:
    """Return the events, the oldest first."""
    told = list(decisions)
    events = [
        *_seen(leaker),
        *_victims(leaker),
        *(_decided(one) for one in told),
        *(_proved(one) for one in proofs),
        *_fixed(leaker, told),
    ]
    return sorted(events, key=lambda event: event.at)


def _seen(leaker: LeakerRow) -> Iterable[Event]:
    if leaker.first_at is not None:
        pull = f"by pull request #{leaker.first_pr}" if leaker.first_pr else ""
        commit = f"at commit {leaker.first_commit[:9]}" if leaker.first_commit else ""
        text = " ".join(part for part in (commit, pull) if part)
        yield Event(leaker.first_at, "failed", "first seen", text, run=leaker.first_run)
    if leaker.opened_at is not None:
        yield Event(leaker.opened_at, "waiting", "opened", "there is enough evidence")
    if leaker.reopened_at is not None:
        yield Event(leaker.reopened_at, "flaky", "reopened", "it was seen again")


def _victims(leaker: LeakerRow) -> Iterable[Event]:
    dated = [(one.claimed_at, one) for one in leaker.claimed]
    known = sorted(
        ((at, one) for at, one in dated if at is not None), key=lambda pair: pair[0]
    )
    for place, (at, one) in enumerate(known[:_NAMED_VICTIMS]):
        word = "first victim" if place == 0 else "victim"
        yield Event(at, "failed", word, one.status, test=one.test, nodeid=one.nodeid)


def _decided(one: DecisionRow) -> Event:
    if one.what == "state":
        look = {"open": "waiting", "fixed": "passed"}.get(one.after, "skipped")
        text = f"was {STATES.get(one.before, one.before)}"
        return Event(
            one.at, look, STATES.get(one.after, one.after), text, one.by, one.note
        )
    if one.what == "note":
        return Event(one.at, "skipped", "note", "", one.by, one.note)
    if one.what == "fix":
        return Event(
            one.at, "passed", "fix", f"commit {one.after[:9]}", one.by, one.note
        )
    text = one.after or f"no {one.what} any more"
    return Event(one.at, "skipped", one.what, text, one.by, one.note)


def _proved(one: ProofRow) -> Event:
    counts = "" if one.runs is None else f"failed {one.failed or 0} of {one.runs} times"
    confirmed = one.result == "confirmed"
    return Event(
        one.at,
        "failed" if confirmed else "passed",
        "proven" if confirmed else "refuted",
        counts,
        one.by,
        one.how,
        test=one.test,
        nodeid=one.nodeid,
    )


def _fixed(leaker: LeakerRow, decisions: Sequence[DecisionRow]) -> Iterable[Event]:
    """A fix that no person told: the window stopped to speak of it."""
    if leaker.state not in _FIXED or leaker.fixed_at is None:
        return
    if any(one.what == "fix" and one.at == leaker.fixed_at for one in decisions):
        return
    text = "no run of the window shows it any more"
    yield Event(leaker.fixed_at, "passed", "fixed", text)


def fix_seen(leaker: LeakerRow, cells: Iterable[HistoryCell]) -> FixSeen | None:
    """Say what the runs since the fix prove; `cells` are of its surest victim."""
    if leaker.state not in _FIXED or leaker.fixed_at is None or not leaker.claimed:
        return None
    victim = leaker.claimed[0]
    since = [
        cell
        for cell in cells
        if cell.started_at > leaker.fixed_at and cell.outcome not in _IDLE
    ]
    failed = victim.failed_after + victim.failed_without
    told = proof(
        old_events=failed,
        old_trials=failed + victim.passed_after + victim.passed_without,
        relevant=float(len(since)),
        failures=sum(cell.outcome in FAILING for cell in since),
    )
    return FixSeen(
        words=in_words(told),
        sure=told.state is Fix.VERIFIED,
        broken=told.state is Fix.REOPENED,
        victim=victim,
    )
