"""GitLab CI."""

from __future__ import annotations

import re

from healthboard_client.ci.facts import Environ, Facts, Load, number, shard_of

_PARALLEL = re.compile(r"\s+[0-9]+/[0-9]+$")  # `unit 2/4` is shard 2 of the job `unit`


def applies(environ: Environ) -> bool:
    return environ.get("GITLAB_CI") == "true"


def read(environ: Environ, load: Load) -> Facts:
    """A retried job says nowhere which attempt it is: give `--attempt` there."""
    get = environ.get
    pipeline = get("CI_PIPELINE_ID", "")
    source = get("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "")
    return Facts(
        provider="gitlab",
        run=f"gitlab-{pipeline}" if pipeline else "",
        job=_PARALLEL.sub("", get("CI_JOB_NAME", "")),
        shard=shard_of(get("CI_NODE_INDEX"), get("CI_NODE_TOTAL"), first=1),
        branch=source or get("CI_COMMIT_BRANCH", ""),
        commit=get("CI_COMMIT_SHA", ""),
        head_sha=get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", ""),
        base_sha=get("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", ""),
        pr=number(get("CI_MERGE_REQUEST_IID")),
        base_branch=get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", ""),
        merge_base=get("CI_MERGE_REQUEST_DIFF_BASE_SHA", ""),
        committed_at=get("CI_COMMIT_TIMESTAMP", ""),
        started_at=get("CI_JOB_STARTED_AT", ""),
        ci_url=get("CI_JOB_URL") or get("CI_PIPELINE_URL", ""),
    )
