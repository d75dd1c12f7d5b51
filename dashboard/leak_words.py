"""Leakers, victims and classes in words: what a person reads of the numbers. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.wording import counted, sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leaks.shapes import LeakerRow, PairRow

# The class of a test: its word, and what it says.
CLASSES: dict[str, tuple[str, str]] = {
    "regression": ("regression", "it fails since a commit and keeps failing"),
    "victim": ("victim", "it fails when a leaker ran before it in its process"),
    "brittle": (
        "brittle",
        "it fails when a test that sets it up did not run before it",
    ),
    "self_polluter": ("self-polluter", "it fails on its own second run"),
    "flaky": ("flaky", "it both passes and fails on one commit, whatever ran before"),
    "environment": (
        "environment",
        "it fails only in one environment, part or runner",
    ),
    "cross_worker": (
        "across workers",
        "it fails only when several workers run, through something they share",
    ),
    "import": ("import", "it fails when a file was merely collected in its process"),
    "place": ("place", "it fails early or late in its process, whatever ran before"),
    "gate": ("leaks", "a gate says that it leaves state behind"),
    "unexplained": (
        "not identifiable yet",
        "it was seen to fail, and the runs do not say why",
    ),
}
STATES = {
    "open": "open",
    "muted": "muted",
    "dismissed": "dismissed",
    "fixed": "fixed",
    "verified_fixed": "verified fixed",
    "suspected": "suspected",
}
SOURCES = {
    "gate": "by a gate",
    "correlation": "by its runs",
    "both": "by a gate and its runs",
}
STORIES = {
    "flake": "fails now and then, whatever ran before",
    "regression": "a stretch of commits broke it",
    "place": "its place in the process",
    "environment": "one environment, part or runner",
    "cross_worker": "several workers at once",
    "import": "a file that was merely collected",
    "self_polluter": "its own second run",
    "victim": "a test that ran before it",
    "brittle": "a test that did not run before it",
}
DOUBTS = {
    "posterior": "other explanations hold more than 5 % of the belief",
    "evidence": "its own observations are too few or too weak",
    "rival": "another test explains the failures far better",
    "partial": "it explains too few of the failures",
    "few": "fewer than two failures, or than two passes, were seen",
    "group": "other tests ran before it in exactly the same runs",
    "confounded": "a change of the code landed together with it",
    "order": "the order drifts with the commits instead of being shuffled",
    "assumed": "the order was taken from the report, not recorded",
}
_SURE = ("proven", "confirmed")
_FAINTEST = 0.001
_SAYS = {
    "proven": "Proven",
    "confirmed": "Confirmed",
    "suspect": "Suspected",
    "indistinguishable": "Cannot be told apart",
    "refuted": "Refuted",
}


@dataclass(frozen=True, slots=True)
class Named:
    """A name and a share of the belief, in hundredths."""

    name: str
    share: float


def table_in_words(pair: PairRow) -> str:
    """Say the 2×2 table: `failed in 41 of 43 runs after it, in 1 of 160 without`."""
    after = pair.failed_after + pair.passed_after
    without = pair.failed_without + pair.passed_without
    if not after + without:
        return "no run of the window shows the two in one process"
    return (
        f"failed in {pair.failed_after:,} of {counted(after, 'run')} after it,"
        f" in {pair.failed_without:,} of {without:,} without"
    )


def confidence(pair: PairRow) -> str:
    """Say how sure a pair is, and what chance alone would do."""
    says = _SAYS[pair.status]
    if pair.status == "proven":
        return f"{says}: a reproduction, or a gate that names both, showed it."
    if pair.status == "refuted":
        return f"{says}: a reproduction of the two alone did not fail."
    if pair.status == "indistinguishable":
        others = max(len(pair.group), pair.evidence.get("group_size", 0)) - 1
        with_whom = counted(others, "other test") if others > 0 else "others"
        return f"{says} from {with_whom}: they always ran before it together."
    held = belief(pair.posterior)
    claim = "" if pair.status == "confirmed" else "; no claim is made"
    return f"{says}: it holds {held} of the belief{claim}. {by_chance(pair.p_value)}"


def belief(share: float) -> str:
    """Write a posterior; what is nearly sure is never called sure."""
    if share >= 0.9995:
        return "more than 99.9 %"
    if share < 0.001:
        return "less than 0.1 %"
    return f"{share * 100:.1f} %"


def by_chance(p_value: float) -> str:
    """Say Fisher's one-sided p as how often chance alone makes such a table."""
    if p_value >= 0.05:
        return f"Chance alone makes such a table {p_value * 100:.0f} times in 100."
    if p_value >= 1e-6:
        return f"Chance alone makes such a table once in {round(1 / p_value):,}."
    exponent = 300 if p_value <= 0 else math.floor(-math.log10(p_value))
    return f"Chance alone makes such a table less than once in 10^{exponent}."


def lasts(pair: PairRow) -> str:
    """Say how long the damage lives."""
    if pair.kind != "victim" or pair.status == "refuted":
        return ""
    if pair.lives_for is None:
        return "The damage lasts to the end of the process."
    tests = max(round(pair.lives_for), 1)
    return f"The damage survives about {counted(tests, 'test')}."


def doubts(pair: PairRow) -> list[str]:
    """Say why it is not claimed."""
    return [DOUBTS.get(one, one) for one in pair.evidence.get("doubts", ())]


def stories(evidence: Mapping[str, object]) -> list[Named]:
    """Return the explanations that hold at least a hundredth, the best first."""
    told = evidence.get("stories")
    if not isinstance(told, dict):
        return []
    ranked = sorted(told.items(), key=lambda one: -one[1])
    return [
        Named(STORIES.get(str(name), str(name)), round(share * 100, 1))
        for name, share in ranked
        if share >= 0.01
    ]


def leaves_behind(leaker: LeakerRow) -> str:
    """Say what a leaker does: its kinds of leaks, and how many it breaks."""
    parts = []
    if leaker.kinds:
        parts.append(f"leaves {sentence(leaker.kinds)} behind")
    if leaker.claimed:
        parts.append(f"breaks {counted(len(leaker.claimed), 'test')}")
    elif leaker.victims:
        suspected = sum(one.status == "suspect" for one in worth_a_look(leaker.victims))
        if suspected:
            parts.append(f"is suspected of breaking {counted(suspected, 'test')}")
    return sentence(parts) or "left something behind; nothing speaks of it any more"


_MANY = {
    "regression": "regressions",
    "victim": "victims",
    "self_polluter": "self-polluters",
    "gate": "leak",
}


def tests_of_class(name: str, count: int) -> str:
    """Write how many tests are of a class: `3 victims`, `1 flaky`."""
    word = CLASSES[name][0] if name in CLASSES else name
    return f"{count:,} {word if count == 1 else _MANY.get(name, word)}"


def speaks(pair: PairRow) -> bool:
    """Tell whether anything speaks for a pair: a claim, or a failure and some belief.

    Who never ran before a failure broke nothing, whatever is believed beforehand.
    """
    if pair.status in _SURE:
        return True
    victim = pair.kind == "victim"
    seen = pair.failed_after if victim else pair.failed_without
    return pair.status != "refuted" and seen > 0 and pair.posterior >= _FAINTEST


def worth_a_look(pairs: Sequence[PairRow]) -> list[PairRow]:
    """Return the pairs that say something: claims first, then suspicions, refuted last.

    What holds less than a thousandth of the belief is no suspicion.
    """
    shown = [one for one in pairs if one.status == "refuted" or speaks(one)]
    return sorted(
        shown,
        key=lambda one: (
            one.status == "refuted",
            not one.current,
            one.status not in _SURE,
        ),
    )
