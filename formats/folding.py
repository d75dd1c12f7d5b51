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
    from formats.repeats import Folded
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
    """Fold one file; `scope` tells its processes apart, `traced` counts attempts."""
    labels = _Labels(scope, known=reading.order is not OrderQuality.UNKNOWN)
    folding = Folding(label, {})
    tests, elements = folding.tests, reading.elements
    repeated: dict[str, list[int]] = {}
    for place, identity in enumerate(identities):
        key = identity[0]
        if key in tests:
            repeated.setdefault(key, []).append(place)
            continue
        element = elements[place]
        flaky = bool(element.attempts) and _disagree(element)
        tests[key] = _new(Told, (identity, element, flaky, labels[element.process], ""))
    if repeated:
        rule = decide(
            setting,
            declared=reading.declared_tests,
            distinct=len(tests) - reading.suite_level_results,
            written=len(elements) - reading.suite_level_results,
        )
        for key, places in repeated.items():
            first = tests[key]
            folded = fold(
                [first.element, *(elements[place] for place in places)],
                rule=rule,
                traced=traced.get(key, 0),
                silent_failures=setting is Repeats.AUTO or is_pytest(first.element),
            )
            same = [first.identity, *(identities[place] for place in places)]
            _replace(folding, key, folded, same, labels)
    return folding


def _replace(
    folding: Folding,
    key: str,
    folded: Folded,
    same: Sequence[Identity],
    labels: Mapping[str, str],
) -> None:
    """Put what several elements of one id came to in their place."""
    identity = min(same, key=lambda known: (-known.rank, known.nodeid))
    element, flaky, rule = folded
    folding.tests[key] = Told(identity, element, flaky, labels[element.process])
    if rule:
        folding.rules.setdefault(rule, []).append(identity.nodeid)


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
