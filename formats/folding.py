"""One file's elements as test cases, each standing once.

Guarantees: a test that stands once passes through untouched; for the others the
rules of `repeats` decide, once for the file, and for a test that a trace saw by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from formats.identity import is_pytest
from formats.joining import Told
from formats.outcomes import disagree
from formats.repeats import Repeats, decide, fold
from formats.report import OrderQuality

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from formats.identity import Identity
    from formats.report import Element, Reading

_new = tuple.__new__


@dataclass(frozen=True, slots=True)
class Folding:
    """The tests of one file by key, and what its repeated ids were taken for."""

    label: str
    tests: dict[str, Told]
    rules: dict[Repeats, list[str]] = field(default_factory=dict)  # with node ids


def fold_file(
    reading: Reading,
    identities: Sequence[Identity],
    *,
    label: str,
    scope: str,
    setting: Repeats,
    traced: Mapping[str, int],
) -> Folding:
    """Fold the elements of one file.

    `scope` tells this file's processes from those of others; `traced` holds for each
    key how many attempts a trace saw.
    """
    labels = _Labels(scope, known=reading.order is not OrderQuality.UNKNOWN)
    folding = Folding(label, {})
    repeated: dict[str, list[int]] = {}
    tests, elements = folding.tests, reading.elements
    for place, identity in enumerate(identities):
        key = identity[0]
        if key in tests:
            repeated.setdefault(key, []).append(place)
            continue
        element = elements[place]
        flaky = bool(element.attempts) and _disagree(element)
        tests[key] = _new(Told, (identity, element, flaky, labels[element.process], ""))
    if not repeated:
        return folding
    rule = decide(
        setting,
        declared=reading.declared_tests,
        distinct=len(tests) - reading.suite_level_results,
        written=len(elements) - reading.suite_level_results,
    )
    silent = setting is Repeats.AUTO
    for key, places in repeated.items():
        first = tests[key]
        told = [first.element, *(elements[place] for place in places)]
        folded = fold(
            told,
            rule=rule,
            traced=traced.get(key, 0),
            silent_failures=silent or is_pytest(first.element),
        )
        tests[key] = Told(
            _richest(first.identity, [identities[place] for place in places]),
            folded.element,
            folded.flaky,
            labels[folded.element.process],
        )
        if folded.rule:
            folding.rules.setdefault(folded.rule, []).append(first.identity.nodeid)
    return folding


class _Labels(dict[str, str]):
    """Labels of processes, unique in the upload."""

    def __init__(self, scope: str, *, known: bool) -> None:
        super().__init__({"": ""})
        self._scope = scope
        self._known = known

    def __missing__(self, process: str) -> str:
        label = f"{process} [{self._scope}]" if self._scope else process
        self[process] = label if self._known else ""
        return self[process]


def _disagree(element: Element) -> bool:
    outcomes = {attempt.outcome for attempt in element.attempts}
    return disagree(outcomes | {element.outcome})


def _richest(first: Identity, others: Sequence[Identity]) -> Identity:
    return min((first, *others), key=lambda known: (-known.rank, known.nodeid))
