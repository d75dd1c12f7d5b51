"""Severities, states of findings and verdicts of effects, each by shape and word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template

from dashboard.templatetags.show import badge

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

register = template.Library()

_SEVERITIES = {"P0": "error", "P1": "failed", "P2": "flaky", "P3": "skipped"}
_STATES = {
    "open": "waiting",
    "reopened": "flaky",
    "resolved": "passed",
    "fixed": "passed",
}
_VERDICTS = {
    "failed": "error",
    "contradicted": "failed",
    "pending": "waiting",
    "unverified": "flaky",
    "not_executed": "skipped",
    "state_observed": "xpassed",
    "verified": "passed",
}


@register.simple_tag
def severity(value: str) -> SafeString:
    """Draw a severity, P0 to P3."""
    return badge(_SEVERITIES[value], value)


@register.simple_tag
def state(value: str) -> SafeString:
    """Draw the state of a finding; what a person put aside looks skipped."""
    return badge(_STATES.get(value, "skipped"), value)


@register.simple_tag
def verdict(value: str) -> SafeString:
    """Draw how an effect was judged."""
    return badge(_VERDICTS[value], value.replace("_", " "))


@register.filter
def words(value: str) -> str:
    """Write a name with underscores as words."""
    return value.replace("_", " ")


@register.filter
def whereabouts(location: list[str]) -> str:
    """Write where a resource is: a file's path, else its last parts."""
    if location[0] == "filesystem":
        return location[-1]
    return "/".join(location[-2:] if len(location) > 2 else location[-1:])
