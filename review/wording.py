"""The sentences of the agenda: what happened, with its numbers. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analysis.fixed import CHANCE, ENOUGH, Fix

if TYPE_CHECKING:
    from datetime import datetime

    from analysis.fixed import FixProof


def counted(number: float, noun: str, plural: str = "") -> str:
    """Write `1 run`, `2 runs`, `no runs`; a part of one as `0.4 runs`."""
    whole = round(number)
    shown = f"{whole:,}" if abs(number - whole) < 0.05 else f"{number:,.1f}"
    word = noun if shown == "1" else plural or f"{noun}s"
    return f"no {word}" if shown == "0" else f"{shown} {word}"


def percent(share: float) -> str:
    """Write 0.381 as 38 %; what is small keeps two figures."""
    value = share * 100
    if value == 0 or value >= 9.95:
        return f"{value:.0f} %"
    return f"{value:.2g} %"


def minutes(seconds: float) -> str:
    """Write what was lost as minutes, or hours."""
    if seconds < 60:
        return f"{counted(seconds, 'second')} lost"
    if seconds < 7_200:
        return f"{counted(seconds / 60, 'minute')} lost"
    return f"{counted(seconds / 3_600, 'hour')} lost"


def cost(
    *, failed_results: float, failed_runs: float, lost_s: float, pulls: int
) -> str:
    """Say what a leaker or a test cost."""
    parts = [
        counted(number, noun) + after
        for number, noun, after in (
            (pulls, "pull request", " turned red"),
            (failed_results, "failed result", " charged to it"),
            (failed_runs, "red run", ""),
        )
        if number
    ]
    return ", ".join([*parts, minutes(lost_s)])


def fixed(proof: FixProof, *, since: str, old_failed: int, old_runs: int) -> str:
    """Say how sure a fix is, by exact binomial bounds.

    The chance is that of so many passes in a row at the *lower* bound of the old rate.
    """
    runs = int(proof.relevant)
    old = (
        f"{percent(old_failed / old_runs)} before" if old_runs else "never seen before"
    )
    if proof.state is Fix.REOPENED:
        failures = counted(proof.failures, "failure")
        return f"{failures} in {counted(runs, 'run')} since {since}: not fixed ({old})."
    said = f"0 failures in {counted(runs, 'run')} since {since}"
    if not old_failed:
        return f"{said}; it did not fail before, so nothing is proven."
    if not runs:
        return f"No run since {since} yet; {old} ({old_failed:,} of {old_runs:,})."
    below = f"with 95 % certainty it now fails in fewer than {percent(proof.new_high)}"
    by_chance = f"at the old {percent(old_failed / old_runs)} {chance(proof.chance)}"
    sentence = f"{said}; {by_chance}; {below}."
    if proof.state is Fix.VERIFIED:
        return sentence
    return f"{sentence} Not proven yet: {_lacks(proof, runs)}."


def mark(pr: int | None, commit: str, at: datetime) -> str:
    """Name what fixed it: `#540`, a commit, or the day."""
    if pr:
        return f"#{pr}"
    return commit[:9] if commit else f"{at:%Y-%m-%d}"


def chance(value: float) -> str:
    """Say how often something happens by chance, never too seldom."""
    if value <= 0:
        return "that practically never happens by chance"
    power = math.floor(-math.log10(value))
    if power >= 3:
        return f"that happens by chance less than once in 10^{power}"
    if value >= 0.5:
        return "that may well happen by chance"
    return f"that happens by chance once in {math.floor(1 / value):,}"


def _lacks(proof: FixProof, runs: int) -> str:
    if runs < ENOUGH:
        return f"it takes {ENOUGH} runs and a chance below {percent(CHANCE)}"
    return f"it takes a chance below {percent(CHANCE)}"
