"""Checking a ledger of effects: what it says to its run, before it is stored above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from formats.effects.findings import leak_kind
from formats.effects.judging import judge
from formats.effects.leaks import leaks_of, looks_like_test
from formats.effects.ledger import read_ledger
from formats.identity import Identifier
from projects import options
from results import testcases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.context import Context
    from formats.effects.judgement import Judged
    from formats.gates import LeakFact
    from formats.report import Note
    from projects.models import Project


@dataclass(frozen=True, slots=True)
class Checked:
    """What a good ledger noted, and what its effects leak."""

    notes: list[Note]
    leaks: list[LeakFact]


def check(stream: BinaryIO, context: Context, project: Project) -> Checked:
    """Read and judge a ledger; raise `Rejected` for a bad one."""
    ledger = read_ledger(stream, run_ended=context.complete)
    judged = judge(ledger)
    tests = _tests(project, judged)
    leaks = leaks_of(judged, test=context.test, is_test=tests.__contains__)
    return Checked(list(ledger.notes), leaks)


def _tests(project: Project, judged: Iterable[Judged]) -> set[str]:
    """Of what the requests are called, what is a test: known, or a node id."""
    names = {effect.request_id for effect in judged if leak_kind(effect)} - {""}
    found = {name for name in names if looks_like_test(name)}
    rules = options.identity_rules(options.read(project))
    identify = Identifier(rules).identify_nodeid
    keys = {name: identify(name).key for name in names - found}
    known = testcases.find(project.pk, set(keys.values()))
    return found | {name for name, key in keys.items() if key in known}
