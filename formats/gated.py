"""Taking gates' failures from the elements of a file.

Guarantees: an element that fails only by a gate has the outcome that it has without it
(`rest`), and says in `gated` which one it had; one with a failure of its own keeps that
one's outcome and words. A file without any gate comes back as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from formats.outcomes import FAILING, Outcome
from formats.recognisers import Carrier
from formats.report import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from formats.gates import LeakFact
    from formats.identity import Identity
    from formats.recognisers import Recognisers
    from formats.report import Attempt, Element

_PASSED = Outcome.PASSED
_OUTCOME, _ATTEMPTS = 4, 8  # places in an Element: `lift` looks at every test


class Recognised(NamedTuple):
    """A leak that an element's text tells of."""

    identity: Identity
    fact: LeakFact
    reported: Outcome | None  # where the gate's failure was all of it


@dataclass(slots=True)
class Lifted:
    """The elements without gates' failures, and the leaks that these were."""

    elements: list[Element]
    leaks: list[Recognised] = field(default_factory=list)


class _Own(NamedTuple):
    """What an attempt is without the gates' failures."""

    outcome: Outcome
    message: str
    text: str
    leaks: list[LeakFact]


def lift(
    elements: list[Element],
    identities: Sequence[Identity],
    recognisers: Recognisers,
    spoken: Mapping[str, Sequence[str]],
) -> Lifted:
    """Take gates' failures away. `spoken` are messages of gates by a test's key."""
    lifted = Lifted(elements)
    suspects = [
        place
        for place, element in enumerate(elements)
        if element[_OUTCOME] is not _PASSED or element[_ATTEMPTS]
    ]
    for place in suspects:
        element, identity = elements[place], identities[place]
        found = _lift_one(element, identity, recognisers, spoken.get(identity.key, ()))
        if found is None:
            continue
        if lifted.elements is elements:
            lifted.elements = list(elements)
        lifted.elements[place], leaks = found
        lifted.leaks += leaks
    return lifted


def _lift_one(
    element: Element,
    identity: Identity,
    recognisers: Recognisers,
    spoken: Sequence[str],
) -> tuple[Element, list[Recognised]] | None:
    name = element.name
    if element.nodeid:
        head, bracket, params = element.nodeid.partition("[")
        name = f"{head.rpartition('::')[2]}{bracket}{params}"
    carrier = Carrier(name, element.nodeid or identity.nodeid)
    leaks: list[Recognised] = []
    attempts = []
    for attempt in element.attempts:
        own = _own(attempt, carrier, recognisers, spoken)
        attempts.append(attempt if own is None else _lifted_attempt(attempt, own))
        leaks += [Recognised(identity, fact, None) for fact in own.leaks] if own else []
    own = _own(element, carrier, recognisers, spoken)
    if own is None:
        if not leaks and tuple(attempts) == element.attempts:
            return None
        return element._replace(attempts=tuple(attempts)), leaks
    gated = element.outcome if own.outcome is not element.outcome else None
    leaks += [Recognised(identity, fact, gated) for fact in own.leaks]
    lifted = element._replace(
        outcome=own.outcome,
        message=own.message,
        text=own.text,
        attempts=tuple(attempts),
        problems=(),
        gated=gated,
    )
    return lifted, leaks


def _lifted_attempt(attempt: Attempt, own: _Own) -> Attempt:
    gated = attempt.outcome if own.outcome is not attempt.outcome else None
    return replace(
        attempt,
        outcome=own.outcome,
        message=own.message,
        text=own.text,
        problems=(),
        gated=gated,
    )


def _own(
    told: Element | Attempt,
    carrier: Carrier,
    recognisers: Recognisers,
    spoken: Sequence[str],
) -> _Own | None:
    """Return what is left without gates' failures; None where there are none."""
    if told.outcome not in FAILING:
        return None
    problems = told.problems or (Problem(told.outcome, told.message, told.text),)
    leaks: list[LeakFact] = []
    own: list[Problem] = []
    seen = False
    for problem in problems:
        found = recognisers.find(problem.message, problem.text, carrier, spoken=spoken)
        seen = seen or found is not None
        leaks += found.leaks if found else ()
        if found is None or not found.whole:
            own.append(problem)
    if not seen:
        return None
    if len(own) == len(problems):
        return _Own(told.outcome, told.message, told.text, leaks)
    if not own:
        return _Own(told.rest or _PASSED, told.message, told.text, leaks)
    gates = [one for one in problems if one not in own]
    text = _without(told.text, gates)
    return _Own(_worst_of(own, told.rest), own[0].message, text, leaks)


def _without(text: str, gates: Sequence[Problem]) -> str:
    """The text without the gates' parts; captured output stays."""
    for one in gates:
        for part in (f"{one.message}\n{one.text}", one.text):
            if part.strip() and part in text:
                text = text.replace(part, "", 1).strip()
                break
    return text


def _worst_of(own: Sequence[Problem], rest: Outcome | None) -> Outcome:
    """An error, else a skip, else a failure: as a report's children are judged."""
    if any(one.outcome is Outcome.ERROR for one in own):
        return Outcome.ERROR
    return rest or Outcome.FAILED
