"""Tags and filters that show values the same way on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import mark_safe

from dashboard import health, icons, wording
from projects.days import today_in

if TYPE_CHECKING:
    from datetime import datetime

    from django.utils.safestring import SafeString

register = template.Library()

register.filter("grouped", wording.grouped)
register.filter("counted", wording.counted)
register.filter("last_days", wording.last_days)
register.filter("duration", wording.duration)
register.filter("percent", wording.percent)
register.filter("commit", wording.short_commit)
register.filter("plain", wording.plain)
register.filter("is_web", wording.is_web)
register.filter("answer_look", wording.answer_look)
register.filter("delivery_look", wording.delivery_look)
register.filter("sent_look", wording.sent_look)
register.filter("outcome_word", health.outcome_word)

WORDS = {
    "no_results": "no results",
    "xfailed": "expected failure",
    "xpassed": "unexpected pass",
}
# States of an upload and their look: they share shapes and colours with outcomes.
LOOKS = {
    "admitted": "waiting",
    "processing": "waiting",
    "processed": "passed",
    "rejected": "failed",
    "dead": "error",
}


@register.simple_tag
def icon(name: str) -> SafeString:
    """Draw an icon; it is silent for screen readers, a word stands beside it."""
    return format_html(
        '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">'
        '<path d="{}"/></svg>',
        icons.PATHS[name],
    )


@register.simple_tag
def badge(value: str, word: str = "") -> SafeString:
    """Draw an outcome or a state: shape, word and colour."""
    look = LOOKS.get(value, value)
    return format_html(
        '<span class="badge is-{}">{}{}</span>',
        look.replace("_", "-"),
        icon(look),
        word or WORDS.get(value, value),
    )


@register.simple_tag
def when(value: datetime | None, empty: str = "never") -> SafeString | str:
    """Show a relative time; the exact one is on hover, in the viewer's zone by JS."""
    if value is None:
        return empty
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(),
        f"{value:%Y-%m-%d %H:%M:%S %Z}",
        wording.ago(value, now=timezone.now()),
    )


@register.simple_tag
def day(value: datetime, zone: str) -> SafeString:
    """Show a moment that is known to the day only; the date is on hover."""
    date = today_in(zone, value)
    text = wording.days_ago(date, today=today_in(zone, timezone.now()))
    return format_html('<time datetime="{0}" title="{0}">{1}</time>', date, text)


@register.simple_tag
def nodeid(value: str, href: str = "", row: bool = False) -> SafeString:
    """Show an id that may shrink in its middle; its text stays whole.

    With `row` the keys j and k walk to it.
    """
    head, tail = wording.split_nodeid(value)
    inner = format_html(
        '<span class="head">{}</span><span class="tail">{}</span>', head, tail
    )
    if not href:
        return format_html('<span class="nodeid" title="{}">{}</span>', value, inner)
    return format_html(
        '<a class="nodeid" href="{}" title="{}"{}>{}</a>',
        href,
        value,
        mark_safe(" data-row") if row else "",
        inner,
    )


@register.simple_tag
def copy(text: str, what: str) -> SafeString:
    """Draw a button that copies a text; it appears only where JavaScript runs."""
    return format_html(
        '<button type="button" class="copy" data-copy="{}" title="Copy {}" hidden>'
        '{}<span class="unseen">Copy {}</span></button>',
        text,
        what,
        icon("copy"),
        what,
    )
