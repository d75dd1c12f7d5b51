"""Buildkite."""

from __future__ import annotations

from healthboard_client.ci.facts import Environ, Facts, Load, number, shard_of


def applies(environ: Environ) -> bool:
    return environ.get("BUILDKITE") == "true"


def read(environ: Environ, load: Load) -> Facts:
    """`BUILDKITE_COMMIT` may be the word HEAD: then git says which one it is."""
    get = environ.get
    build, job = get("BUILDKITE_BUILD_ID", ""), get("BUILDKITE_JOB_ID", "")
    commit, url = get("BUILDKITE_COMMIT", ""), get("BUILDKITE_BUILD_URL", "")
    retries = number(get("BUILDKITE_RETRY_COUNT")) or 0
    return Facts(
        provider="buildkite",
        run=f"buildkite-{build}" if build else "",
        attempt=retries + 1,
        job=get("BUILDKITE_STEP_KEY") or get("BUILDKITE_LABEL", ""),
        shard=shard_of(
            get("BUILDKITE_PARALLEL_JOB"),
            get("BUILDKITE_PARALLEL_JOB_COUNT"),
            first=0,
        ),
        branch=get("BUILDKITE_BRANCH", ""),
        commit="" if commit == "HEAD" else commit,
        pr=number(get("BUILDKITE_PULL_REQUEST")),  # else the word false
        base_branch=get("BUILDKITE_PULL_REQUEST_BASE_BRANCH", ""),
        ci_url=f"{url}#{job}" if url and job else url,
    )
