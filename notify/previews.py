"""What an endpoint would get: made of samples, or of a delivery. Nothing is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings

from notify import mail
from notify.messages import Message, as_json
from notify.models import Format
from notify.rendering import slack, teams
from notify.telling import messages_of

if TYPE_CHECKING:
    from notify.models import Delivery, Endpoint

_AT = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
_CASE = {"test": 7, "nodeid": "tests/test_cart.py::test_total"}
_PULL = {"number": 540, "title": "Cache the prices", "author": "ada"}
_RUN = {
    "run": 12,
    "branch": "main",
    "commit": "1677b9d04c",
    "environment": {"os": "linux"},
}
# Any: JSON
SAMPLES: dict[str, dict[str, Any]] = {
    "leaker.new": {
        **_CASE,
        "kinds": ["env.set"],
        "pr": 540,
        "recipe": "use monkeypatch",
    },
    "leaker.reopened": {**_CASE, "kinds": ["env.set"]},
    "leaker.fixed": _CASE,
    "test.newly_flaky": {**_CASE, "class": "victim"},
    "finding.p0": {
        "title": "The token is written to the log",
        "path": "shop/pay.py",
        "line": 41,
        "pr": 540,
        "detail": "Anyone who reads the log can pay.",
    },
    "pull_request.verdict": {
        **_PULL,
        "verdict": "yours",
        "sentence": "2 failures: 1 introduced, 1 inherited.",
        "lines": ["it introduces 1 failure"],
    },
    "pull_request.unblocked": {**_PULL, "by": ["#531"]},
    "run.failed": {
        **_RUN,
        "failing": 3,
        "causes": [
            {"message": "assert 401 == 200", "count": 3, "tests": [_CASE["nodeid"]]}
        ],
    },
    "run.recovered": _RUN,
    "run.incomplete": {**_RUN, "why": "part 3 of 4 is missing"},
    "review.ready": {"week": "2026-W10"},
    "endpoint.disabled": {"endpoint": "chat", "reason": "it has failed for 5 days"},
}


@dataclass(frozen=True, slots=True)
class Preview:
    """`body` as it would be posted, or the parts of a mail."""

    headline: str
    lines: list[str]
    body: str = ""
    subject: str = ""
    html: str = ""


def of_type(kind: str, endpoint: Endpoint) -> Preview:
    """Show a sample event of a type as this endpoint would get it."""
    data = SAMPLES.get(kind, {"title": kind})
    project = endpoint.project
    url = f"{settings.SITE_ROOT}/p/{project.slug}/"
    sample = Message("evt_sample", kind, _AT, project.slug, data, url)
    return _preview(sample, endpoint.format)


def of_delivery(delivery: Delivery) -> Preview:
    """Show what a delivery tells."""
    return _preview(messages_of([delivery])[delivery.pk], delivery.endpoint.format)


def _preview(message: Message, format: str) -> Preview:
    if format == Format.EMAIL:
        letter = mail.letter(
            message, to="", unsubscribe=f"{settings.SITE_ROOT}/unsubscribe/…"
        )
        return Preview(
            message.headline,
            message.lines,
            body=letter.text,
            subject=letter.subject,
            html=letter.html,
        )
    bodies = {Format.SLACK.value: slack, Format.TEAMS.value: teams}
    body = bodies.get(format, as_json)(message)
    told = json.dumps(body, indent=2, ensure_ascii=False)
    return Preview(message.headline, message.lines, body=told)
