"""Messages as e-mail: plain text and HTML, with a way out in each.

Guarantees: no header holds anything but what was checked or escaped; every mail can be
unsubscribed from by one click, also by the mail program itself (RFC 8058).
"""

from __future__ import annotations

import smtplib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.utils.html import format_html, format_html_join

from notify.messages import cut

if TYPE_CHECKING:
    from notify.messages import Message

SCHEME = "mailto:"
_MOST = 100  # events in one mail


class NotSent(Exception):
    """The mail server did not take it; the message says why."""


@dataclass(frozen=True, slots=True)
class Letter:
    to: str
    subject: str
    text: str
    html: str
    unsubscribe: str


def letter(message: Message, *, to: str, unsubscribe: str) -> Letter:
    """Write a mail of one event, or of the events of a digest."""
    subject = cut(f"[{message.project}] {_subject(message)}", 150)
    text, html = _text(message, unsubscribe), _html(message, unsubscribe)
    return Letter(to, subject, text, html, unsubscribe)


def send(written: Letter) -> None:
    """Hand a mail to the server that the settings name."""
    if not settings.HEALTHBOARD_MAIL_HOST:
        raise NotSent("no mail server is set (EMAIL_HOST)")
    made = EmailMultiAlternatives(
        written.subject,
        written.text,
        to=[written.to],
        headers={
            "List-Unsubscribe": f"<{written.unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    made.attach_alternative(written.html, "text/html")
    try:
        made.send()
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise NotSent(f"{type(error).__name__}: {error}"[:200]) from error


def _subject(message: Message) -> str:
    if len(message.parts) == 1:
        return message.parts[0].headline
    return message.headline


def _text(message: Message, unsubscribe: str) -> str:
    lines = [f"{message.project}: {_subject(message)}", ""]
    for part in _shown(message):
        lines += [f"* {part.headline}", *(f"    {line}" for line in part.lines)]
        lines += [f"    {part.url}", ""]
    lines += [_left(message)] if _left(message) else []
    lines += ["--", f"No more of these: {unsubscribe}", ""]
    return "\n".join(lines)


def _html(message: Message, unsubscribe: str) -> str:
    items = format_html_join(
        "",
        '<li style="margin-bottom:12px"><a href="{}">{}</a>{}</li>',
        (
            (
                part.url,
                part.headline,
                format_html_join(
                    "",
                    '<br><span style="color:#555">{}</span>',
                    ((x,) for x in part.lines),
                ),
            )
            for part in _shown(message)
        ),
    )
    left = _left(message)
    return format_html(
        '<!doctype html><html lang="en"><body style="font-family:sans-serif">'
        '<h1 style="font-size:18px">{}</h1><ul>{}</ul>{}'
        '<p style="color:#555;font-size:13px"><a href="{}">No more of these</a></p>'
        "</body></html>",
        f"{message.project}: {_subject(message)}",
        items,
        format_html("<p>{}</p>", left) if left else "",
        unsubscribe,
    )


def _shown(message: Message) -> list[Message]:
    return list(message.parts[:_MOST]) or [message]


def _left(message: Message) -> str:
    left = len(message.parts) - _MOST
    return f"… and {left} more: {message.url}" if left > 0 else ""
