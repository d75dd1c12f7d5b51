"""States of leakers, claims of pairs and classes of tests, each by shape and word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from dashboard import intervals, leak_words
from dashboard.templatetags.show import badge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.utils.safestring import SafeString

register = template.Library()

_STATES = {
    "open": "failed",
    "suspected": "flaky",
    "muted": "skipped",
    "dismissed": "skipped",
    "fixed": "waiting",
    "verified_fixed": "passed",
}
_CLAIMS = {
    "proven": "error",
    "confirmed": "failed",
    "suspect": "flaky",
    "indistinguishable": "incomplete",
    "refuted": "passed",
}
_CLASSES = {
    "regression": "failed",
    "victim": "error",
    "brittle": "error",
    "self_polluter": "error",
    "flaky": "flaky",
    "environment": "incomplete",
    "cross_worker": "incomplete",
    "import": "incomplete",
    "place": "incomplete",
    "gate": "failed",
    "unexplained": "no_results",
}

register.filter("table_in_words", leak_words.table_in_words)
register.filter("confidence", leak_words.confidence)
register.filter("lasts", leak_words.lasts)
register.filter("doubts", leak_words.doubts)
register.filter("belief", leak_words.belief)
register.filter("leaves_behind", leak_words.leaves_behind)
register.filter("intervals", intervals.of_pair)


@register.simple_tag
def leaker_state(value: str) -> SafeString:
    """Draw the state of a leaker."""
    return badge(_STATES.get(value, "skipped"), leak_words.STATES.get(value, value))


@register.simple_tag
def claim(value: str) -> SafeString:
    """Draw what is claimed of a pair."""
    return badge(_CLAIMS.get(value, "skipped"), value)


@register.simple_tag
def test_class(value: str) -> SafeString:
    """Draw the class of a test."""
    return badge(_CLASSES.get(value, "skipped"), class_word(value))


@register.filter
def class_word(value: str) -> str:
    """Write the class of a test as a word."""
    return leak_words.CLASSES[value][0] if value in leak_words.CLASSES else value


@register.filter
def tests_of_class(count: int, name: str) -> str:
    """Write how many tests are of a class."""
    return leak_words.tests_of_class(name, count)


@register.filter
def class_says(value: str) -> str:
    """Say what a class means."""
    return leak_words.CLASSES[value][1] if value in leak_words.CLASSES else ""


@register.filter
def source_words(value: str) -> str:
    """Say who tells of a leaker."""
    return leak_words.SOURCES.get(value, value)


@register.filter
def of[V](found: Mapping[int, V], key: int) -> V | None:
    """Return the value of a key, None where there is none."""
    return found.get(key)
