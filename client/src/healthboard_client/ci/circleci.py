"""CircleCI."""

from __future__ import annotations

from healthboard_client.ci.facts import (
    Environ,
    Facts,
    Load,
    last_number,
    number,
    shard_of,
)


def applies(environ: Environ) -> bool:
    return environ.get("CIRCLECI") == "true"


def read(environ: Environ, load: Load) -> Facts:
    """Re-running failed jobs makes a new workflow, so a run of its own."""
    get = environ.get
    workflow, build = get("CIRCLE_WORKFLOW_ID", ""), get("CIRCLE_BUILD_NUM", "")
    run = workflow or build
    pull = get("CIRCLE_PULL_REQUEST") or get("CIRCLE_PULL_REQUESTS", "").split(",")[0]
    return Facts(
        provider="circleci",
        run=f"circleci-{run}" if run else "",
        job=get("CIRCLE_JOB", ""),
        shard=shard_of(get("CIRCLE_NODE_INDEX"), get("CIRCLE_NODE_TOTAL"), first=0),
        branch=get("CIRCLE_BRANCH", ""),
        commit=get("CIRCLE_SHA1", ""),
        pr=number(get("CIRCLE_PR_NUMBER")) or last_number(pull),
        ci_url=get("CIRCLE_BUILD_URL", ""),
    )
