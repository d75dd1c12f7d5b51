"""Reading an effect ledger: all of it, or the first line that is wrong.

Guarantees: returns a `Ledger` whose records keep every rule of form and consistency,
or raises `Rejected` with the number of the first offending line; once a run has
ended, each claim without outcome has one that says `interrupted`, flagged `replayed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from formats.effects.fields import Unfit
from formats.effects.lines import read_objects
from formats.effects.parsing import Parser, Record
from formats.effects.records import (
    Claim,
    Cleanup,
    Execution,
    Facts,
    Impact,
    Ledger,
    Observation,
    Outcome,
)
from formats.report import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable

    from formats.report import Note


def read_ledger(stream: BinaryIO, *, run_ended: bool) -> Ledger:
    """Read one export; `run_ended` is what its upload says of the run."""
    notes: list[Note] = []
    parser = Parser()
    entries = _Entries()
    for number, value in read_objects(stream, notes=notes):
        try:
            entries.add(parser.parse(value, number))
        except Unfit as error:
            raise Rejected(str(error), line=number, path=error.path or None) from error
    outcomes = entries.outcomes
    if run_ended:
        outcomes.extend(entries.interrupted())
    return Ledger(
        tuple(entries.claims.values()),
        tuple(outcomes),
        tuple(entries.observations),
        run_ended,
        tuple(notes),
    )


class _Entries:
    """The records so far; takes none that does not follow from those before it."""

    def __init__(self) -> None:
        self.claims: dict[str, Claim] = {}
        self.outcomes: list[Outcome] = []
        self.observations: list[Observation] = []
        self._latest: dict[str, Outcome] = {}  # of each effect
        # By sequence as text: numbers can be chosen so that their hashes collide.
        self._lines: dict[str, int] = {}
        self._highest = -1

    def add(self, record: Record) -> None:
        earlier = self._lines.setdefault(str(record.sequence), record.line)
        if earlier != record.line:
            raise Unfit("record.sequence", f"was used before, in line {earlier}")
        self._highest = max(self._highest, record.sequence)
        if isinstance(record, Claim):
            self._add_claim(record)
        elif isinstance(record, Outcome):
            self._add_outcome(record)
        else:
            self.observations.append(record)

    def _add_claim(self, claim: Claim) -> None:
        known = self.claims.setdefault(claim.effect_id, claim)
        if known is not claim:
            what = f"was claimed before, in line {known.line}"
            raise Unfit("record.effect_id", what)

    def _add_outcome(self, outcome: Outcome) -> None:
        claim = self.claims.get(outcome.effect_id)
        if not claim:
            raise Unfit("record.effect_id", "has no claim before this outcome")
        before = self._latest.get(outcome.effect_id)
        if before and before.execution is not Execution.RUNNING:
            what = f"was settled before, in line {before.line}"
            raise Unfit("record.effect_id", what)
        if outcome.sequence <= (before or claim).sequence:
            what = f"is not above that of line {(before or claim).line}"
            raise Unfit("record.sequence", what)
        self._latest[outcome.effect_id] = outcome
        self.outcomes.append(outcome)

    def interrupted(self) -> Iterable[Outcome]:
        """The outcomes of what the end of the run cut off, after everything else."""
        cut_off = [c for c in self.claims.values() if c.effect_id not in self._latest]
        cut_off.sort(key=lambda claim: claim.sequence)
        for sequence, claim in enumerate(cut_off, self._highest + 1):
            yield Outcome(
                effect_id=claim.effect_id,
                sequence=sequence,
                execution=Execution.INTERRUPTED,
                impact=Impact.POSSIBLE,
                facts=Facts(),
                cleanup=Cleanup.NOT_APPLICABLE,
                execution_id="",
                replayed=True,
            )
