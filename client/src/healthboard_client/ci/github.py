"""GitHub Actions."""

from __future__ import annotations

import json
import re
from typing import Any

from healthboard_client.ci.facts import Environ, Facts, Load, branch_of, number

_PULL = re.compile(r"refs/pull/([0-9]{1,9})/")
_QUEUE = re.compile(r"refs/heads/gh-readonly-queue/(.+)/pr-([0-9]{1,9})-[0-9a-f]+$")


def applies(environ: Environ) -> bool:
    return environ.get("GITHUB_ACTIONS") == "true"


def read(environ: Environ, load: Load) -> Facts:
    """`GITHUB_SHA` of a pull request is the merge of it; its head is in the event."""
    get = environ.get
    event = _event(load(get("GITHUB_EVENT_PATH", "")))
    pull = event.get("pull_request") or {}
    ref = get("GITHUB_REF", "")
    queue, named = _QUEUE.match(ref), _PULL.match(ref)
    group = event.get("merge_group") or {}
    base = pull.get("base") or {}
    run, repository = get("GITHUB_RUN_ID", ""), get("GITHUB_REPOSITORY", "")
    server = get("GITHUB_SERVER_URL", "https://github.com")
    pr = queue[2] if queue else named[1] if named else str(pull.get("number", ""))
    return Facts(
        provider="github",
        run=f"github-{run}" if run else "",
        attempt=number(get("GITHUB_RUN_ATTEMPT")) or 1,
        job=get("GITHUB_JOB", ""),
        branch=get("GITHUB_HEAD_REF") or branch_of(ref),
        commit=get("GITHUB_SHA", ""),
        head_sha=str((pull.get("head") or {}).get("sha") or ""),
        base_sha=str(base.get("sha") or group.get("base_sha") or ""),
        pr=number(pr),
        base_branch=get("GITHUB_BASE_REF") or (queue[1] if queue else ""),
        ci_url=f"{server}/{repository}/actions/runs/{run}"
        if run and repository
        else "",
    )


def _event(text: str) -> dict[str, Any]:  # Any: GitHub's own JSON
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}
