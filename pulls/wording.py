"""A verdict in one word and one sentence, why it is red, and what to do. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.attribution import Share, Why
from pulls.models import Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pulls.shapes import Blockers, FindingItem, HeadRun, Item

INHERITED = (Share.INHERITED, Share.FIXED_UPSTREAM)
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Policies:
    """What turns a pull request red."""

    introduced_leak: bool = True
    introduced_failure: bool = True
    p0: bool = True
    incomplete: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a verdict is made of."""

    leaks: Sequence[Item]
    failures: Sequence[Item]
    findings: Sequence[FindingItem]
    runs: Sequence[HeadRun]
    blockers: Blockers
    head: str
    untested: str
    base: str
    quality: str
    based: bool  # some run of the default branch was compared with
    tests: int
    branch: str  # the default one
    commands: Sequence[str] = ()  # that reproduce a leaker's harm

    @property
    def incomplete(self) -> bool:
        return any(not run.complete for run in self.runs)


def reason_of(why: Why, commit: str) -> str:
    """Say in words what decided."""
    at = f" at {short(commit)}" if commit else " at the base"
    return {
        Why.SEEN: f"the same was seen{at}",
        Why.OTHER: f"it failed{at} too, but with another failure",
        Why.PASSED: f"it was not seen{at}, where the test ran",
        Why.ABSENT: f"the complete run{at} has no such test",
        Why.NO_RUN: "no run of an ancestor can say",
    }[why]


def word_of(facts: Facts) -> Word:
    """Return the verdict in one word."""
    mine = [item for item in facts.failures if item.share == Share.INTRODUCED]
    leaks = [item for item in facts.leaks if item.share == Share.INTRODUCED]
    blocked = bool(facts.blockers.order)
    # A gate that is new finds what was there before: of those a blocker may rid it.
    leaks = [item for item in leaks if not (item.gate_new and blocked)]
    if mine or leaks or _pressing(facts.findings):
        return Word.YOURS
    if blocked:
        return Word.BLOCKED
    every = [*facts.failures, *facts.leaks]
    unclear = [one for one in every if one.share == Share.UNKNOWN and not one.is_flaky]
    if not facts.runs or facts.untested or unclear or facts.incomplete:
        return Word.UNKNOWN
    if any(one.share != Share.FIXED for one in every):
        return Word.NOT_YOURS
    return Word.CLEAR


def red_reasons(facts: Facts, policies: Policies) -> list[str]:
    """Return why it is red by the project's policies; nothing: it is not."""
    found = []
    leaks = [item for item in facts.leaks if item.share == Share.INTRODUCED]
    mine = [item for item in facts.failures if item.share == Share.INTRODUCED]
    if policies.introduced_leak and leaks:
        found.append(f"it introduces {count(len(leaks), 'leak')}")
    if policies.introduced_failure and mine:
        found.append(f"it introduces {count(len(mine), 'failure')}")
    pressing = _pressing(facts.findings)
    if policies.p0 and pressing:
        found.append(f"{count(len(pressing), 'P0 finding')}")
    if policies.incomplete and facts.incomplete:
        found.append("a run is incomplete")
    return found


def sentence_of(facts: Facts) -> str:
    """Say it in one line."""
    said = [*_runs(facts)]
    failing = [one for one in facts.failures if one.share != Share.FIXED]
    leaking = [one for one in facts.leaks if one.share != Share.FIXED]
    if failing:
        said.append(_shares(failing, "failure", facts.branch))
    if leaking:
        said.append(_shares(leaking, "leak", facts.branch))
    if facts.runs and not failing and not leaking:
        said.append(f"No failure and no leak in {count(facts.tests, 'test')}.")
    said += _fixes(facts)
    pressing = [one for one in facts.findings if one.severity in ("P0", "P1")]
    if pressing:
        said.append(f"{count(len(pressing), 'open finding')} of P0 or P1.")
    if facts.runs and not facts.based and (failing or leaking):
        said.append(f"No run of {facts.branch} is known to compare with.")
    elif facts.quality == "estimated" and (failing or leaking):
        said.append("The base is estimated by time.")
    if facts.blockers.order:
        said.append(f"Blocked on {listed(map(_name, facts.blockers.order))}.")
    for cycle in facts.blockers.cycles:
        said.append(f"{listed(map(_name, cycle))} wait for each other.")
    return " ".join(said)


def advice_of(facts: Facts) -> list[str]:
    """Return what to do, the most useful first."""
    found = []
    every = [*facts.failures, *facts.leaks]
    gone = [one for one in every if one.share == Share.FIXED_UPSTREAM and one.gone]
    if gone:
        found.append(_rebase(gone, facts))
    if facts.blockers.order:
        found.append(f"Merge first: {listed(map(_name, facts.blockers.order))}.")
    circles = [listed(map(_name, cycle)) for cycle in facts.blockers.cycles]
    found += [f"Break the circle of {circle}." for circle in circles]
    recipes = {one.recipe for one in facts.leaks if one.share == Share.INTRODUCED}
    found += sorted(recipes - {""})[:MOST_NAMED]
    if facts.commands and any(one.leaker for one in facts.failures):
        found += [f"To be sure, run: {one}" for one in facts.commands[:MOST_NAMED]]
    if any(one.is_flaky for one in facts.failures):
        found.append(
            "Run the known flaky tests again: they say nothing of this change."
        )
    if facts.incomplete:
        found.append("Wait for the missing parts, or run the failed jobs again.")
    if facts.runs and not facts.based and every:
        found.append(
            f"Upload the runs of {facts.branch}, and `ancestry` with each upload: then"
            " it can be told what is inherited."
        )
    return found


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Iterable[str]) -> str:
    """Join names as a person would."""
    every = list(names)
    if len(every) <= 1:
        return "".join(every)
    return f"{', '.join(every[:-1])} and {every[-1]}"


def short(commit: str) -> str:
    """Return a commit by its first digits; other names whole."""
    hexes = set("0123456789abcdef")
    return commit[:7] if len(commit) >= 40 and set(commit) <= hexes else commit


def _pressing(findings: Sequence[FindingItem]) -> list[FindingItem]:
    return [f for f in findings if f.severity == "P0" and f.share not in INHERITED]


def _name(one: int | str) -> str:
    return f"#{one}" if isinstance(one, int) else one


def _runs(facts: Facts) -> list[str]:
    if not facts.runs:
        return ["No run of this pull request is known yet."]
    said = []
    if facts.untested:
        told, seen = short(facts.untested), short(facts.head)
        said.append(f"No run of {told} is known yet; this speaks of {seen}.")
    missing = sum(len(run.missing) for run in facts.runs)
    if missing:
        said.append(f"{count(missing, 'part')} of its run not in yet.")
    elif facts.incomplete:
        said.append("Its run is not complete.")
    return said


def _shares(items: Sequence[Item], noun: str, branch: str) -> str:
    """Say how many there are, and whose."""
    flaky = [one for one in items if one.is_flaky]
    rest = [one for one in items if not one.is_flaky]
    mine = [one for one in rest if one.share == Share.INTRODUCED]
    said = [f"{len(mine)} introduced"]
    own = {one.leaker.nodeid for one in mine if one.leaker}
    if own:
        said[0] += f" (through its own {_leakers(own)})"
    said += _inherited([one for one in rest if one.share == Share.INHERITED])
    said += _gone([one for one in rest if one.share == Share.FIXED_UPSTREAM], branch)
    unknown = [one for one in rest if one.share == Share.UNKNOWN]
    if unknown:
        said.append(f"{len(unknown)} of unknown origin")
    if flaky:
        said.append(f"{len(flaky)} known flaky{_rate(flaky)}")
    return f"{count(len(items), noun)}: {', '.join(said)}."


def _inherited(items: Sequence[Item]) -> list[str]:
    groups: dict[tuple[str, tuple[int, ...]], int] = defaultdict(int)
    for one in items:
        leaker = one.leaker.nodeid if one.leaker else ""
        groups[leaker, tuple(one.fixed_by)] += 1
    said = []
    for (leaker, fixers), number in sorted(groups.items()):
        by = f" from leaker `{_last(leaker)}`" if leaker else ""
        fix = f" (fixed by {listed(map(_name, fixers))}, open)" if fixers else ""
        said.append(f"{number} inherited{by}{fix}")
    return said


def _gone(items: Sequence[Item], branch: str) -> list[str]:
    groups: dict[str, int] = defaultdict(int)
    for one in items:
        groups[_since(one)] += 1
    return [
        f"{number} inherited and fixed on {branch}{since}"
        for since, number in groups.items()
    ]


def _since(item: Item) -> str:
    if item.gone is None:
        return ""
    by = f" (#{item.gone.pull})" if item.gone.pull else ""
    return f" since {short(item.gone.commit)}{by}"


def _rate(items: Sequence[Item]) -> str:
    rates = [one.flaky.rate for one in items if one.flaky and one.flaky.rate]
    return f" (fails in {rates[0]:.0%} of its runs)" if len(rates) == 1 else ""


def _fixes(facts: Facts) -> list[str]:
    fixed = [
        count(len(some), noun)
        for some, noun in (
            ([o for o in facts.failures if o.share == Share.FIXED], "failure"),
            ([o for o in facts.leaks if o.share == Share.FIXED], "leak"),
        )
        if some
    ]
    return [f"It fixes {listed(fixed)}."] if fixed else []


def _rebase(gone: Sequence[Item], facts: Facts) -> str:
    """Name the newest of the commits: what is based on it has all of the fixes."""
    newest = max((one for one in gone if one.gone), key=lambda o: o.gone.run or 0)  # type: ignore[union-attr]
    since = _since(newest)
    base = f" This branch is based on {short(facts.base)}." if facts.base else ""
    verb = "is" if len(gone) == 1 else "are"
    what = f"{len(gone)} of its faults {verb}"
    return f"Rebase onto {facts.branch}: {what} fixed there{since}.{base}"


def _leakers(nodeids: Iterable[str]) -> str:
    names = [f"`{_last(one)}`" for one in sorted(nodeids)]
    return f"{'leaker' if len(names) == 1 else 'leakers'} {listed(names[:MOST_NAMED])}"


def _last(nodeid: str) -> str:
    return nodeid.rpartition("::")[2]
