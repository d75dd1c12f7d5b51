"""Pull requests for the tests: reports, hooks as their hosts send them, what is told."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from healthboard.pipeline import drain_all
from projects.creation import Created
from tests.asking import told
from tests.delivering import send
from tests.routing import deliver
from tests.sending import Upload, bearer, post

REPO = "acme/app"
_ids = count()
START = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def at(hours: float) -> str:
    """A time, so many hours after the first."""
    return (START + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def report(**outcomes: str) -> bytes:
    """A JUnit report; "" passes, "skipped" is skipped, else the failure's message."""
    return b'<testsuite name="pytest">%s</testsuite>' % b"".join(
        _case(name, outcome) for name, outcome in outcomes.items()
    )


def _case(name: str, outcome: str) -> bytes:
    body = ""
    if outcome == "skipped":
        body = '<skipped message="not here"/>'
    elif outcome:
        body = f'<failure message="{outcome}">tests/test_app.py:7: {outcome}</failure>'
    text = f'<testcase classname="tests.test_app" name="{name}" time="0.1">{body}'
    return f"{text}</testcase>".encode()


def gate(*leaks: tuple[str, str], name: str = "env") -> bytes:
    """A gate's payload: (test, kind) each."""
    return json.dumps(
        {
            "schema": "healthboard.gate/1",
            "gate": name,
            "leaks": [
                {
                    "test": f"tests/test_app.py::{test}",
                    "kind": kind,
                    "items": ["HOME"],
                    "item_count": 1,
                }
                for test, kind in leaks
            ],
        }
    ).encode()


def main(created: Created, commit: str, hours: float, **outcomes: str) -> int:
    """A run of the default branch."""
    return run(created, commit, hours, branch="main", **outcomes)


def run(
    created: Created,
    commit: str,
    hours: float,
    *,
    leaks: bytes | None = None,
    context: dict[str, Any] | None = None,
    **outcomes: str,
) -> int:
    """A run; `branch`, `pr`, `base` (the merge base) and `ancestry` are of its context,
    all other names are tests."""
    said: dict[str, Any] = {"run": f"{commit}-{hours}", "started_at": at(hours)}
    for name in ("branch", "pr", "ancestry", "head_sha", "base_sha", "complete"):
        if name in outcomes:
            said[name] = outcomes.pop(name)
    if "base" in outcomes:
        said["merge_base"] = outcomes.pop("base")
    said |= {"commit": commit, **(context or {})}
    if leaks is None:
        return send(created, report(**outcomes), **said)
    files = [("junit", "a.xml", report(**outcomes)), ("gate", "g.json", leaks)]
    answer = post(Upload(said, files), bearer(created.token))
    assert answer.status_code == 202, answer.content
    drain_all()
    upload: int = answer.json()["id"]
    return upload


def hook(
    route: Any, event: str, payload: dict[str, Any], *, drain: bool = True
) -> None:
    """Deliver one of GitHub's events."""
    body = {"repository": {"full_name": REPO, "default_branch": "main"}, **payload}
    sent = {"X_GitHub_Event": event, "X_GitHub_Delivery": f"delivery-{next(_ids)}"}
    answer = deliver(route, json.dumps(body).encode(), **sent)
    assert answer.status_code in (200, 202), answer.content
    if drain:
        drain_all()


def pull_request(number: int, hours: float, **fields: Any) -> dict[str, Any]:
    """The payload of a `pull_request` event, in GitHub's shape."""
    state = fields.pop("state", "open")
    merged = state == "merged"
    head = fields.pop("head", f"{number:07x}")
    return {
        "action": fields.pop("action", "synchronize"),
        "number": number,
        "pull_request": {
            "number": number,
            "state": "closed" if merged else state,
            "merged": merged,
            "merged_at": at(hours) if merged else None,
            "closed_at": None if state == "open" else at(hours),
            "title": fields.pop("title", f"Change {number}"),
            "body": fields.pop("body", ""),
            "draft": False,
            "user": {"login": "ada"},
            "html_url": f"https://example.test/{REPO}/pull/{number}",
            "created_at": at(0),
            "updated_at": at(hours),
            "merge_commit_sha": fields.pop("merge_commit", None),
            "head": {"sha": head, "ref": f"b{number}", "repo": {"full_name": REPO}},
            "base": {"sha": fields.pop("base", "aaaaaaa"), "ref": "main"},
            **fields,
        },
    }


def comment(
    number: int, key: int, hours: float, body: str, *, action: str = "created"
) -> dict[str, Any]:
    """The payload of an `issue_comment` event."""
    return {
        "action": action,
        "issue": {
            "number": number,
            "title": f"Change {number}",
            "body": "",
            "state": "open",
            "updated_at": at(0),
            "pull_request": {"html_url": "", "merged_at": None},
        },
        "comment": {
            "id": key,
            "body": body,
            "created_at": at(1),
            "updated_at": at(hours),
        },
    }


def push(
    before: str, after: str, hours: float, *messages: str, **fields: Any
) -> dict[str, Any]:
    """The payload of a `push` of one commit a message, the last is `after`."""
    names = [f"{after[:5]}{n}0" for n in range(len(messages) - 1)]
    shas = [*names, after] if messages else []
    return {
        "ref": f"refs/heads/{fields.pop('branch', 'main')}",
        "before": before,
        "after": after,
        "forced": fields.pop("forced", False),
        "deleted": False,
        "commits": [
            {"id": sha, "message": message, "timestamp": at(hours)}
            for sha, message in zip(shas, messages, strict=True)
        ],
        **fields,
    }


def pull(created: Created, number: int) -> dict[str, Any]:
    """What the API tells of a pull request."""
    found: dict[str, Any] = told(
        f"/projects/{created.project.slug}/pulls/{number}", created.token
    )
    return found


def names(shares: dict[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    """The tests of each share that has any."""
    return {
        share: sorted((one["nodeid"] or "").rpartition("::")[2] for one in items)
        for share, items in shares.items()
        if items
    }
