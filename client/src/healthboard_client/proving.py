"""Proving who breaks a victim: the ranked candidates first, then bisection.

Guarantees: `confirmed` was seen so many times as asked and its opposite just as often
without the leaker; a candidate is `refuted` only for the pair alone, as it ran; a
victim that is not stable by itself proves nothing, and that is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from healthboard_client.bisection import bisect
from healthboard_client.probing import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from healthboard_client.probing import Laboratory

OTHER = {Ending.PASSED: Ending.FAILED, Ending.FAILED: Ending.PASSED}


@dataclass(frozen=True)
class Proof:
    """One pair, or a group of tests that work only together, and what was seen."""

    leakers: tuple[str, ...]
    confirmed: bool
    how: str
    runs: int
    failed: int


@dataclass
class Finding:
    """What became of the whole search."""

    kind: str = ""  # victim: fails after the leaker; brittle: fails without the setter
    proofs: list[Proof] = field(default_factory=list)
    why: str = ""  # nothing could be proven
    pairs: int = 0  # experiments with one candidate
    bisected: int = 0  # experiments of the bisection

    @property
    def confirmed(self) -> list[Proof]:
        return [proof for proof in self.proofs if proof.confirmed]


@dataclass
class Search:
    """One victim in one laboratory."""

    victim: str
    lab: Laboratory
    repeat: int = 2
    tell: Callable[[str], None] = field(default=lambda text: None)

    def prove(
        self,
        candidates: Iterable[str],
        recorded: Callable[[str], Sequence[str]] | None = None,
    ) -> Finding:
        """Try the candidates, the best first; then what `recorded` says ran before.

        `recorded` is asked with the kind, only when no candidate proves it.
        """
        found = Finding()
        alone = self.lab.try_out([], self.victim)
        if alone is Ending.UNKNOWN:
            found.why = "alone it cannot be run to its end (is the node id right?)"
            return found
        changed = OTHER[alone]
        found.kind = "victim" if alone is Ending.PASSED else "brittle"
        self.tell(f"alone it {alone.value}: looking for a {_role(found.kind)}")
        for candidate in candidates:
            found.pairs += 1
            if self._try_pair(candidate, changed, found):
                return found
        if recorded is not None:
            self._bisect(list(recorded(found.kind)), changed, found)
        if not found.confirmed and not found.why:
            found.why = "no candidate changes how it ends"
        return found

    def _try_pair(self, candidate: str, changed: Ending, found: Finding) -> bool:
        ending = self.lab.try_out([candidate], self.victim)
        if ending is Ending.UNKNOWN:
            self.tell(f"{candidate}: the two could not be run together")
            return False
        if ending is not changed:
            self.tell(f"{candidate}: refuted, it {ending.value} after it")
            failed = int(ending is Ending.FAILED)
            found.proofs.append(Proof((candidate,), False, "pair", 1, failed))
            return False
        return self._settle((candidate,), changed, found, how="pair")

    def _settle(
        self, leakers: tuple[str, ...], changed: Ending, found: Finding, *, how: str
    ) -> bool:
        """Repeat what was seen once; then without it, as often."""
        more = self.repeat - 1  # each was seen once already
        if not (
            self._again(leakers, changed, more)
            and self._again((), OTHER[changed], more)
        ):
            self.tell(f"{' + '.join(leakers)}: it does not happen each time")
            found.why = "what was seen once was not seen again: it is flaky besides"
            return False
        failed = self.repeat if changed is Ending.FAILED else 0
        found.proofs.append(Proof(leakers, True, how, self.repeat, failed))
        self.tell(f"{' + '.join(leakers)}: confirmed")
        return True

    def _again(self, before: Sequence[str], ending: Ending, times: int) -> bool:
        return all(
            self.lab.try_out(before, self.victim) is ending for _ in range(times)
        )

    def _bisect(self, before: list[str], changed: Ending, found: Finding) -> None:
        if not before:
            found.why = "no recorded order says what ran before it"
            return
        start = self.lab.processes
        self.tell(f"bisecting the {len(before)} tests that ran before it")
        least = bisect(
            before, lambda some: self.lab.try_out(some, self.victim), changed=changed
        )
        found.bisected = self.lab.processes - start
        if least:
            self._settle(tuple(least), changed, found, how="bisection")
        else:
            found.why = "not even the recorded order reproduces it"


def _role(kind: str) -> str:
    return "leaker" if kind == "victim" else "setter"
