"""Bitbucket Pipelines."""

from __future__ import annotations

from healthboard_client.ci.facts import Environ, Facts, Load, number


def applies(environ: Environ) -> bool:
    return bool(environ.get("BITBUCKET_BUILD_NUMBER"))


def read(environ: Environ, load: Load) -> Facts:
    """Steps of a parallel group need not be shards of one suite: give `--shard`."""
    get = environ.get
    build, place = get("BITBUCKET_BUILD_NUMBER", ""), get("BITBUCKET_REPO_FULL_NAME")
    return Facts(
        provider="bitbucket",
        run=f"bitbucket-{build}",
        attempt=number(get("BITBUCKET_STEP_RUN_NUMBER")) or 1,
        branch=get("BITBUCKET_BRANCH", ""),
        commit=get("BITBUCKET_COMMIT", ""),
        base_sha=get("BITBUCKET_PR_DESTINATION_COMMIT", ""),
        pr=number(get("BITBUCKET_PR_ID")),
        base_branch=get("BITBUCKET_PR_DESTINATION_BRANCH", ""),
        ci_url=f"https://bitbucket.org/{place}/pipelines/results/{build}"
        if place
        else "",
    )
