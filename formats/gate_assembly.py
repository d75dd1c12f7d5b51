"""The leaks of one upload: from gates' payloads and from texts, each told once.

Guarantees: a payload's node id names the same case as the report's, also where that
one has an explicit `test_id`; of one test and
kind told by a payload and by a text the payload's words count, and it is enforced if
the text is there to show it; what gives no place has the place of its case.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from formats.identity import identifier
from formats.outcomes import Outcome
from formats.recognisers import merged, squeezed
from formats.report import TestLeak, TestResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from formats.gated import Recognised
    from formats.gates import LeakFact
    from formats.identity import Identity
    from formats.joining import Told
    from formats.prefixes import IdentityRules
    from formats.report import Element

_LEAST_WORDS = 12  # characters of a message that a text must begin with


class Named:
    """The test cases that node ids name in one upload."""

    def __init__(
        self,
        told: Iterable[tuple[Sequence[Element], Sequence[Identity]]],
        rules: IdentityRules | None = None,
    ) -> None:
        self._known = identifier(rules)
        # By the key that a case would have without its explicit id.
        self._explicit: dict[str, set[Identity]] = {}
        self._keys: set[str] = set()
        for elements, identities in told:
            self._keys.update(one.key for one in identities)
            for element, identity in zip(elements, identities, strict=True):
                if element.test_id:
                    plain = self._known.identify(element._replace(test_id=""))
                    self._explicit.setdefault(plain.key, set()).add(identity)

    def identify(self, nodeid: str) -> Identity:
        """Return the case; of several with one node id none is guessed."""
        identity = self._known.identify_nodeid(nodeid)
        if identity.key in self._keys:
            return identity
        found = self._explicit.get(identity.key, set())
        return next(iter(found)) if len({one.key for one in found}) == 1 else identity


def spoken_by(gates: Iterable[LeakFact], named: Named) -> dict[str, list[str]]:
    """Return the messages of payloads by the key of their test."""
    spoken: dict[str, list[str]] = {}
    for fact in gates:
        words = squeezed(fact.message)
        if fact.test_nodeid and len(words) >= _LEAST_WORDS:
            key = named.identify(fact.test_nodeid).key
            spoken.setdefault(key, []).append(words)
    return spoken


def tell_leaks(
    gates: Sequence[LeakFact],
    recognised: Sequence[Recognised],
    tests: Mapping[str, Told],
    named: Named,
) -> list[TestLeak]:
    """Join the leaks of payloads and texts; payloads first, in their order."""
    if not gates and not recognised:
        return []
    texts = _texts(recognised)
    reported = {
        one.identity.key: one.reported for one in recognised if one.reported is not None
    }
    told: list[TestLeak] = []
    payloads: set[object] = set()
    for fact in dict.fromkeys(gates):
        case = None
        if fact.test_nodeid is not None:
            case = _case(named.identify(fact.test_nodeid), tests)
        key = _key(case.key if case else None, fact)
        payloads.add(key)
        if key in texts and not fact.enforced:
            fact = replace(fact, enforced=True)
        told.append(_told(fact, case, tests, reported, from_text=False))
    for key, (fact, carrier) in texts.items():
        if key not in payloads:
            case = None
            if carrier is not None and fact.test_nodeid is not None:
                said = named.identify(fact.test_nodeid)
                case = _case(said if said.key == carrier.key else carrier, tests)
            told.append(_told(fact, case, tests, reported, from_text=True))
    return told


def _texts(
    recognised: Iterable[Recognised],
) -> dict[object, tuple[LeakFact, Identity | None]]:
    """The leaks of texts by test and kind: several files may tell of one."""
    groups: dict[object, list[tuple[LeakFact, Identity | None]]] = {}
    for identity, fact, _ in recognised:
        of_test = fact.test_nodeid is not None
        key = _key(identity.key if of_test else None, fact)
        groups.setdefault(key, []).append((fact, identity if of_test else None))
    found: dict[object, tuple[LeakFact, Identity | None]] = {}
    for key, some in groups.items():
        first, carrier = some[0]
        alike = [
            replace(fact, test_nodeid=first.test_nodeid, detail=first.detail)
            for fact, _ in some
        ]
        found[key] = merged(alike)[0], carrier
    return found


def _key(test: str | None, fact: LeakFact) -> object:
    """What makes two leaks one: test and kind; at session level the entry."""
    if test is not None:
        return test, fact.kind
    place = (fact.detail.path, fact.detail.reason) if fact.detail else fact.items
    return None, fact.kind, place


def _case(identity: Identity, tests: Mapping[str, Told]) -> TestResult:
    """The case as the database looks for it; the richest node id is the report's."""
    told = tests.get(identity.key)
    known = told.identity if told and told.identity.rank >= identity.rank else identity
    return TestResult(*known[:7], outcome=Outcome.PASSED)


def _told(
    fact: LeakFact,
    case: TestResult | None,
    tests: Mapping[str, Told],
    reported: Mapping[str, Outcome],
    *,
    from_text: bool,
) -> TestLeak:
    if case is None:
        return TestLeak(fact, None, from_text)
    told = tests.get(case.key)
    if told is not None and told.process:
        element = told.element
        fact = replace(
            fact,
            worker=fact.worker or element.worker,
            position=element.position if fact.position is None else fact.position,
        )
    outcome = reported.get(case.key)
    gated = told is not None and told.element.gated is not None
    return TestLeak(fact, case, from_text, outcome if gated else None)
