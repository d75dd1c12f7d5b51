"""Making a verdict: everything that is known of a pull request, judged and worded.

Reads only; what comes out is stored by `verdicts`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from analysis.attribution import Share, Why
from leaks.queries import get_leaker
from projects import options
from pulls import graph, heads, judging, repositories, upstream, wording
from pulls.bases import base_of
from pulls.causes import causes
from pulls.finding_items import findings_of, version_of
from pulls.models import Mark, State, Verdict
from pulls.shapes import HeadRun, Told
from results.queries.leaks import gate_heard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analysis.attribution import Sight
    from projects.models import Project
    from pulls.bases import Base
    from pulls.causes import Causes
    from pulls.heads import Head
    from pulls.judging import Lane
    from pulls.models import Pull
    from pulls.shapes import Blockers, Item
    from pulls.views import View
    from results.queries.tested import RunAt

MOST_FIXERS = 3  # of a mere failure: what more of them pass comes and goes
MOST_COMMANDS = 3
_OUTCOMES = ("failed", "error")


@dataclass(frozen=True, slots=True)
class Made:
    """A verdict, and what is stored beside it."""

    told: Told
    waits: list[int | str]
    fixed: set[str]  # keys of marks
    inherited: set[str]
    blocked_by: set[int]  # computed: open pull requests that fix what it inherits
    tests: list[int]
    causes: str
    reviewed: int  # version of its findings


def evaluate(project: Project, pull: Pull) -> Made:
    """Judge a pull request by what is known now."""
    before = Verdict.objects.filter(pull=pull).first()
    reviewed = version_of(project.pk, pull.number)  # before they are read
    branches = repositories.default_branches(project)
    head = heads.head_of(pull)
    base = base_of(pull, head, branches, before=before)
    lanes = judging.lanes_of(project.pk, head, base)
    items = [item for lane in lanes for item in _judge(lane, base, branches)]
    tests = {item.test for item in items if item.test is not None}
    known = causes(project.pk, tests)
    items = judging.with_causes(items, known, lanes)
    items = [_with_gate(project, item) for item in items]
    fixed = {
        key
        for item in items
        if item.share == Share.FIXED and not _comes_and_goes(item, known)
        for key in item.keys
    }
    items, waits = _with_fixers(pull, items, fixed)
    items = judging.together(items)
    told, blockers = _tell(project, pull, head, base, lanes, items, waits)
    return Made(
        told=told,
        waits=blockers.order,
        fixed=fixed,
        inherited={
            key for one in items if one.share == Share.INHERITED for key in one.keys
        },
        blocked_by=waits,
        tests=sorted(tests),
        causes=known.digest,
        reviewed=reviewed,
    )


def _judge(lane: Lane, base: Base, branches: Sequence[str]) -> list[Item]:
    """Return the items of one environment, each with its share."""
    failures, leaks = judging.failures_of(lane), judging.leaks_of(lane)
    items = [*failures, *leaks]
    inherited = [item for item in items if item.share == Share.INHERITED]
    if not inherited:
        return items
    newer = upstream.newer_runs(lane, branches, base.commit, inherited)
    seen = _looks(lane)
    return [
        upstream.with_upstream(item, newer, *seen[item.keys[0]])
        if item.share == Share.INHERITED
        else item
        for item in items
    ]


type _Look = tuple[RunAt, Callable[[View], Sight]]


def _looks(lane: Lane) -> dict[str, _Look]:
    """Return, by key, the run to start from, and how another one is looked at."""
    first = lane.ancestors[0][0]
    found: dict[str, _Look] = {}
    for failed, _ in lane.head.failed().values():
        look = partial(judging.sight_of_failure, failed=failed)
        found[judging.failure_key(lane, failed)] = (first, look)
    for place in lane.head.leaked():
        found[judging.leak_key(lane, place)] = (
            first,
            partial(judging.sight_of_leak, key=place),
        )
    return found


def _with_gate(project: Project, item: Item) -> Item:
    """Mark a leak that only a new gate made known: it may be older than the change."""
    shown = item.kind not in _OUTCOMES and item.share == Share.INTRODUCED
    if not shown or item.why != Why.PASSED or not item.gate:
        return item
    if gate_heard(project.pk, item.gate):
        return item
    reason = f"{item.reason}; no run of {project.default_branch} ever had this gate"
    return replace(item, gate_new=True, reason=reason)


def _comes_and_goes(item: Item, known: Causes) -> bool:
    """Tell whether one run without it proves no fix."""
    if item.kind not in _OUTCOMES or item.test is None:
        return False
    return item.test in known.flaky or item.test in known.leakers


def _with_fixers(
    pull: Pull, items: list[Item], fixed: set[str]
) -> tuple[list[Item], set[int]]:
    """Name the open pull requests that fix what this one inherits, and return for
    which of them it waits. Two that fix each other's faults do not wait for each
    other."""
    inherited = [item for item in items if item.share == Share.INHERITED]
    fixers = _fixers(pull, {key for item in inherited for key in item.keys})
    of_leaker = {
        item.test: [number for key in item.keys for number in fixers.get(key, ())]
        for item in inherited
        if item.kind not in _OUTCOMES
    }
    mutual = _inheriting(pull, fixed)
    waits: set[int] = set()
    found = []
    for item in items:
        if item.share != Share.INHERITED:
            found.append(item)
            continue
        numbers = {number for key in item.keys for number in fixers.get(key, ())}
        if item.kind in _OUTCOMES and len(numbers) > MOST_FIXERS:
            numbers = set()
        if item.leaker is not None:
            numbers |= set(of_leaker.get(item.leaker.test, ()))
        found.append(replace(item, fixed_by=sorted(numbers)))
        candidates = numbers - mutual
        waits |= {min(candidates)} if candidates else set()
    return found, waits


def _fixers(pull: Pull, keys: set[str]) -> dict[str, list[int]]:
    """Return, by key, the other open pull requests that fix it."""
    rows = Mark.objects.filter(
        project_id=pull.project_id,
        key__in=[bytes.fromhex(key) for key in keys],
        share=Share.FIXED,
        pull__state=State.OPEN,
    ).exclude(pull=pull)
    found: dict[str, list[int]] = defaultdict(list)
    for key, number in rows.order_by("pull__number").values_list("key", "pull__number"):
        found[bytes(key).hex()].append(number)
    return found


def _inheriting(pull: Pull, fixed: set[str]) -> set[int]:
    """Return the pull requests that inherit what this one fixes."""
    rows = Mark.objects.filter(
        project_id=pull.project_id,
        key__in=[bytes.fromhex(key) for key in fixed],
        share=Share.INHERITED,
    )
    return set(rows.values_list("pull__number", flat=True))


def _tell(
    project: Project,
    pull: Pull,
    head: Head,
    base: Base,
    lanes: list[Lane],
    items: list[Item],
    waits: set[int],
) -> tuple[Told, Blockers]:
    leaks = [item for item in items if item.kind not in _OUTCOMES]
    failures = [item for item in items if item.kind in _OUTCOMES]
    edges = graph.load(project.pk)
    edges = graph.with_computed(edges, pull.number, waits)
    blockers = graph.blockers(edges, pull.number)
    runs = [_head_run(run) for lane in lanes for run in lane.head.runs]
    facts = wording.Facts(
        leaks=leaks,
        failures=failures,
        findings=findings_of(project.pk, pull.number),
        runs=_counted(runs, lanes),
        blockers=blockers,
        head=head.sha,
        untested=head.untested if head.runs else "",
        base=base.sha,
        quality=base.quality,
        based=all(lane.ancestors for lane in lanes),
        tests=max((lane.head.tests for lane in lanes), default=0),
        branch=project.default_branch,
        commands=_commands(failures),
    )
    reasons = wording.red_reasons(facts, _policies(project))
    told = Told(
        word=wording.word_of(facts),
        sentence=wording.sentence_of(facts),
        red=bool(reasons),
        reasons=reasons,
        advice=wording.advice_of(facts),
        head=head.sha,
        untested=facts.untested,
        base=base.sha,
        quality=base.quality,
        leaks=leaks,
        failures=failures,
        findings=list(facts.findings),
        runs=runs,
        base_runs=[lane.ancestors[0][0].id for lane in lanes if lane.ancestors],
        tests=facts.tests,
    )
    return told, blockers


def _head_run(run: RunAt) -> HeadRun:
    return HeadRun(
        id=run.id,
        name=run.name,
        outcome=run.outcome,
        complete=run.complete,
        environment=dict(run.environment),
        tests=run.tests,
        missing=list(run.missing),
    )


def _counted(runs: list[HeadRun], lanes: list[Lane]) -> list[HeadRun]:
    """Return the runs by which completeness is told: one that was repeated whole is
    not missed."""
    whole = {run.id for lane in lanes if lane.head.complete for run in lane.head.runs}
    return [
        replace(run, complete=True, missing=[]) if run.id in whole else run
        for run in runs
    ]


def _commands(failures: list[Item]) -> list[str]:
    """Return the commands that show the harm of the leakers that are named."""
    leakers = {item.leaker.id for item in failures if item.leaker and item.leaker.id}
    found = [get_leaker(one) for one in sorted(leakers)[:MOST_COMMANDS]]
    return [one.reproduce for one in found if one is not None and one.reproduce]


def _policies(project: Project) -> wording.Policies:
    chosen = options.read(project)
    return wording.Policies(
        introduced_leak=chosen.red_introduced_leak,
        introduced_failure=chosen.red_introduced_failure,
        p0=chosen.red_p0,
        incomplete=chosen.red_incomplete,
    )
