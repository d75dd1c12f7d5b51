"""Reviews and ledgers for the tests, in our own words, and how they are sent."""

from __future__ import annotations

import itertools
import json
from typing import Any

from django.utils import timezone

from findings.models import Cluster, Course, Finding
from healthboard.pipeline import drain_all
from ingest.models import Upload as Row
from projects.creation import Created
from projects.models import Project
from tests import effect_ledgers as effects
from tests.sending import Upload, bearer, post

# One cause told three times (P0), another told three times (P1), and four alone.
FIRST = """\
FleetReview

Confidence: 3/5

Findings

• P2 shop/cart.py:51 — Rounding drops a cent
• P1 shop/prices.py:80 — Exchange cache removed; fresh sessions never inherit rates
• P0 tests/env_guard.py:40 — Autouse os.environ leak guard red-lights old tests that nobody fixed
• P1 tests/test_rate_cache.py:1 — PR silently reverts the (shop, currency)-keyed exchange cache and drops its table
• P0 tests/conftest.py:12 — Enabling os.environ leak guard will fail CI on known unrestored variables
• P1 shop/rates.py:7 — Exchange Lost
• P3 docs/cart.md — Typo in heading
• P0 tests/test_basket_total.py:22 — Guard ships red: test_basket_total.py still has the unrestored variable
• P2 tests/test_login.py:9 — Leaves a session file behind

FleetReview provenance · models: A=alpha-1, B=beta-2 · cost: $1.50 · duration: 2m 5s · rounds: 1 · files examined: 9
"""

_deliveries = itertools.count(1)  # the same review may come twice


def send(
    created: Created, *files: tuple[str, str, bytes], drain: bool = True, **context: Any
) -> Row:  # Any: JSON
    """Post files of given kinds; process them; return the upload."""
    key = f"delivery-{next(_deliveries)}"
    answer = post(
        Upload(context, list(files)), bearer(created.token) | {"Idempotency-Key": key}
    )
    assert answer.status_code == 202, answer.content
    if drain:
        drain_all()
    return Row.objects.get(pk=answer.json()["id"])


def send_review(created: Created, review: Any, **context: Any) -> Row:  # Any: JSON
    """Post one review: Markdown as text, else JSON."""
    if isinstance(review, str):
        return send(created, ("review", "review.md", review.encode()), **context)
    raw = json.dumps(review).encode()
    return send(created, ("review", "review.json", raw), **context)


def finding(title: str, path: str = "shop/cart.py", **more: Any) -> dict[str, Any]:
    return {"severity": "P2", "path": path, "title": title, "line": 10} | more


def review(*findings: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"schema": "healthboard.review/1", "findings": list(findings)} | more


def ledger(*, seen: bool = True) -> bytes:
    """A run's export: verified, contradicted, external, a failed cleanup, unfinished.

    With `seen` false, nobody looked at the first effect's file.
    """
    cart, note = effects.file("shop/cart.py"), effects.file("notes/todo.md")
    mail = effects.ref("external", "mail", "newsletter")
    cleanup = {"cleanup": "failed"}
    lines = [
        effects.claim(1, [cart], obligations=[effects.obligation(cart)]),
        effects.outcome("e1", 2),
        effects.claim(3, [note], obligations=[effects.obligation(note, "absent")]),
        effects.outcome("e3", 4),
        effects.claim(5, [mail], external=True),
        effects.outcome("e5", 6),
        effects.claim(7, [effects.file("tmp/cache")]),
        effects.outcome("e7", 8, "failed", **cleanup),
        effects.claim(9, [effects.ref("process", "1200")]),
        *([effects.observation(cart, 10)] if seen else []),
        effects.observation(note, 11),
    ]
    for line in lines[:9:2]:
        line["record"]["operation"]["request_id"] = "tests/test_cart.py::test_total"
    return effects.encode(*lines)


def make_finding(project: Project, key: str = "0" * 32, **fields: Any) -> Finding:
    """A stored finding that stands alone, without a review that raised it."""
    now = timezone.now()
    course, _ = Course.objects.get_or_create(project=project, source="review", pr=7)
    cluster = Cluster.objects.create(
        course=course, project=project, key=key, severity="P2", rank=key
    )
    values = {
        "severity": "P2",
        "title": "Rounding drops a cent",
        "state": "open",
        "first_seen": now,
        "last_seen": now,
        "opened_at": now,
        "due": now,
    }
    return Finding.objects.create(
        course=course,
        project=project,
        cluster=cluster,
        source="review",
        pr=7,
        key=key,
        rank=key,
        **values | fields,
    )
