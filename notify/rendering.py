"""A message as each receiver reads it: JSON, Slack, Teams. Pure.

Guarantees: nothing in a message is taken for markup or a mention; every body is below
its receiver's limits (Slack: 50 blocks of 3,000 characters; Teams: 28 KiB) by showing
less of it, with how much is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notify.messages import as_bytes, as_json, counted, cut
from notify.models import Format

if TYPE_CHECKING:
    from notify.messages import Message

type Json = dict[str, Any]  # Any: JSON

SLACK_PARTS = 20
TEAMS_PARTS = 20
TEAMS_BYTES = 25_000


def body_of(message: Message, format: str) -> bytes:
    """Return the body that is posted to a receiver of this format."""
    if format == Format.SLACK:
        return as_bytes(slack(message))
    if format == Format.TEAMS:
        return as_bytes(teams(message))
    return as_bytes(as_json(message))


def slack(message: Message) -> Json:
    """Return a message of Slack's incoming webhooks."""
    headline = _slack_text(message.headline)
    title = f"*<{_slack_url(message.url)}|{headline}>*"
    blocks = [_section(title)]
    lines = message.lines
    if lines:
        quoted = "\n".join(f"> {_slack_text(line)}" for line in lines)
        blocks.append(_section(quoted[:2900]))
    shown = message.parts[:SLACK_PARTS]
    blocks += [
        _section(f"• <{_slack_url(part.url)}|{_slack_text(part.headline)}>")
        for part in shown
    ]
    if left := len(message.parts) - len(shown):
        blocks.append(_section(f"… and {counted(left, 'more event')}"))
    context = f"{_slack_text(message.project)} · {message.type}"
    blocks.append(
        {"type": "context", "elements": [{"type": "mrkdwn", "text": context}]}
    )
    return {"text": headline, "blocks": blocks, "unfurl_links": False}


def teams(message: Message) -> Json:
    """Return an Adaptive Card in the envelope of Teams' incoming webhooks."""
    shown = TEAMS_PARTS
    card = _card(message, shown)
    while len(as_bytes(card)) > TEAMS_BYTES and shown:
        shown //= 2
        card = _card(message, shown)
    return card


def _card(message: Message, parts: int) -> Json:
    blocks = [
        _block(message.headline, weight="Bolder", size="Medium"),
        *(_block(line) for line in message.lines),
        *(_block(f"• {part.headline}") for part in message.parts[:parts]),
    ]
    if (left := len(message.parts) - parts) > 0:
        blocks.append(_block(f"… and {counted(left, 'more event')}"))
    blocks.append(_block(f"{message.project} · {message.type}", isSubtle=True))
    card = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "body": blocks,
        "actions": [{"type": "Action.OpenUrl", "title": "Open", "url": message.url}],
    }
    content_type = "application/vnd.microsoft.card.adaptive"
    return {
        "type": "message",
        "attachments": [
            {"contentType": content_type, "contentUrl": None, "content": card}
        ],
    }


def _section(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text[:2990]}}


def _slack_text(text: str) -> str:
    """Escape what Slack gives a meaning; its own three escapes are all it knows."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A zero-width space keeps formatting characters from pairing up.
    return "".join(f"\u200b{c}" if c in "*_~`" else c for c in text)


def _slack_url(url: str) -> str:
    return url.replace("|", "%7C").replace(">", "%3E").replace("<", "%3C")


def _block(text: str, **more: object) -> Json:
    return {"type": "TextBlock", "text": _teams_text(text), "wrap": True, **more}


def _teams_text(text: str) -> str:
    """Escape Markdown."""
    return "".join(f"\\{c}" if c in "\\`*_[]()#+-!|>~" else c for c in cut(text))
