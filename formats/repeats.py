"""The same id twice in one report: attempts of one test, or invocations of it.

Guarantees: one element comes back for any number; of attempts the last one counts and
the earlier ones are kept in order, of invocations the worst one counts; an error on
teardown is never taken for an attempt of its own. The rules are design.md's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from formats.clipping import clip
from formats.limits import DEFAULT_LIMITS
from formats.outcomes import FAILING, SEVERITY, Outcome, disagree
from formats.report import Attempt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from formats.report import Element

_TEARDOWN = "failed on teardown with"


class Repeats(StrEnum):
    """A project's setting, and the answer to what repeated ids are."""

    AUTO = "auto"
    ATTEMPTS = "attempts"
    INVOCATIONS = "invocations"


class Folded(NamedTuple):
    """One test of one file; `rule` is None where its id stood once."""

    element: Element
    flaky: bool
    rule: Repeats | None


def decide(
    setting: Repeats, *, declared: int | None, distinct: int, written: int
) -> Repeats:
    """Say what the repeated ids of one file are.

    A producer that declares as many tests as there are distinct ids has counted each
    test once and written each of its attempts.
    """
    if setting is not Repeats.AUTO:
        return setting
    if declared == distinct < written:
        return Repeats.ATTEMPTS
    return Repeats.INVOCATIONS


def fold(
    elements: Sequence[Element], *, rule: Repeats, traced: int, silent_failures: bool
) -> Folded:
    """Fold the elements of one id in one file, in file order.

    `traced` is the number of attempts a trace saw, 0 without one; it outranks the
    rule. With `silent_failures` an earlier attempt that says nothing has failed:
    pytest-rerunfailures writes it without a child.
    """
    whole = _with_teardown_errors(elements)
    if len(whole) == 1:
        return Folded(whole[0], _flaky(whole[0]), None)
    if traced:
        rule = Repeats.ATTEMPTS if traced > 1 else Repeats.INVOCATIONS
    elif rule is Repeats.AUTO or any(element.attempts for element in whole):
        # Who writes an attempt into its element writes no second element for one.
        rule = Repeats.INVOCATIONS
    if rule is Repeats.ATTEMPTS:
        silent = silent_failures or bool(traced)
        element = _as_attempts(whole, silent_failures=silent)
        return Folded(element, _flaky(element), rule)
    flaky = any(_flaky(element) for element in whole)
    return Folded(_as_invocations(whole), flaky, rule)


def attempt_of(element: Element) -> Attempt:
    """The last attempt of an element, as an earlier attempt of another."""
    return Attempt(
        element.outcome,
        element.duration,
        element.message,
        element.text,
        gated=element.gated,
    )


def add_durations(durations: Sequence[float | None]) -> float | None:
    known = [duration for duration in durations if duration is not None]
    return sum(known) if known else None


def _flaky(element: Element) -> bool:
    if not element.attempts:
        return False
    outcomes = {attempt.outcome for attempt in element.attempts}
    return disagree(outcomes | {element.outcome})


def _with_teardown_errors(elements: Sequence[Element]) -> list[Element]:
    whole: list[Element] = []
    for element in elements:
        broken = Outcome.ERROR in (element.outcome, element.gated)
        is_teardown = broken and element.message.startswith(_TEARDOWN)
        if whole and is_teardown:
            whole[-1] = _broken_on_teardown(whole[-1], element)
        else:
            whole.append(element)
    return whole


def _broken_on_teardown(before: Element, teardown: Element) -> Element:
    if teardown.gated is not None:
        return _gated_on_teardown(before, teardown)
    return before._replace(
        outcome=Outcome.ERROR,
        message=before.message or teardown.message,
        text=_join_texts([before, teardown]),
        duration=add_durations([before.duration, teardown.duration]),
    )


def _gated_on_teardown(before: Element, teardown: Element) -> Element:
    """What stood before counts; of a pass the gate's words are the text."""
    told = before if before.outcome is not Outcome.PASSED else teardown
    return before._replace(
        message=told.message,
        text=told.text,
        duration=add_durations([before.duration, teardown.duration]),
        gated=teardown.gated,
    )


def _as_attempts(elements: Sequence[Element], *, silent_failures: bool) -> Element:
    earlier: list[Attempt] = []
    for element in elements[:-1]:
        earlier += element.attempts
        attempt = attempt_of(element)
        silent = attempt.outcome is Outcome.PASSED and attempt.gated is None
        if silent_failures and silent:
            attempt = Attempt(Outcome.FAILED, attempt.duration)
        earlier.append(attempt)
    last = elements[-1]
    return last._replace(attempts=(*earlier, *last.attempts))


def _as_invocations(elements: Sequence[Element]) -> Element:
    worst = max(elements, key=lambda element: SEVERITY[element.outcome])
    alike = [element for element in elements if element.outcome is worst.outcome]
    texts = worst.text
    if worst.outcome in FAILING and len(alike) > 1:
        texts = _join_texts(alike)
    return worst._replace(
        text=texts,
        duration=add_durations([element.duration for element in elements]),
        attempts=tuple(a for element in elements for a in element.attempts),
    )


def _join_texts(elements: Sequence[Element]) -> str:
    told = dict.fromkeys(
        _with_message(element)
        for element in elements
        if element.text or element.message
    )
    return clip("\n\n".join(told), DEFAULT_LIMITS.text)


def _with_message(element: Element) -> str:
    if element.message and element.message not in element.text:
        return f"{element.message}\n{element.text}".rstrip()
    return element.text
