"""Verdicts and states of pull requests, each by shape and word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from dashboard import pull_words
from dashboard.templatetags.show import badge

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

register = template.Library()

_VERDICTS = {
    "yours": "failed",
    "blocked": "incomplete",
    "unknown": "no_results",
    "not_yours": "skipped",
    "clear": "passed",
}
_STATES = {"open": "waiting", "merged": "passed", "closed": "skipped"}
_SHARES = {
    "introduced": "failed",
    "unknown": "no_results",
    "inherited": "skipped",
    "inherited_fixed_upstream": "xpassed",
    "fixed": "passed",
}

register.filter("share_words", pull_words.share_words)
register.filter("edge_source", pull_words.source_words)


@register.simple_tag
def pull_verdict(word: str) -> SafeString:
    """Draw a verdict in one word; none yet is still being made."""
    if not word:
        return badge("waiting", "being judged")
    return badge(_VERDICTS.get(word, "skipped"), pull_words.WORDS.get(word, word))


@register.simple_tag
def pull_state(state: str) -> SafeString:
    """Draw the state of a pull request."""
    return badge(_STATES.get(state, "no_results"), state)


@register.simple_tag
def share(value: str) -> SafeString:
    """Draw whose something is."""
    return badge(_SHARES.get(value, "skipped"), pull_words.share_words(value))


@register.filter
def is_number(value: object) -> bool:
    """Tell a pull request of this project from one elsewhere."""
    return isinstance(value, int)
