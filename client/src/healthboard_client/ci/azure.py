"""Azure Pipelines."""

from __future__ import annotations

from urllib.parse import quote

from healthboard_client.ci.facts import (
    Environ,
    Facts,
    Load,
    branch_of,
    number,
    shard_of,
)


def applies(environ: Environ) -> bool:
    return environ.get("TF_BUILD", "").lower() == "true"


def read(environ: Environ, load: Load) -> Facts:
    """A matrix numbers its jobs like slices do, so only slices count as shards."""
    get = environ.get
    build = get("BUILD_BUILDID", "")
    sliced = get("SYSTEM_PARALLELEXECUTIONTYPE", "").lower() == "multimachine"
    position = get("SYSTEM_JOBPOSITIONINPHASE") if sliced else None
    source = get("SYSTEM_PULLREQUEST_SOURCEBRANCH") or get("BUILD_SOURCEBRANCH")
    pull = number(get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER"))
    return Facts(
        provider="azure",
        run=f"azure-{build}" if build else "",
        attempt=number(get("SYSTEM_JOBATTEMPT")) or 1,
        job=get("SYSTEM_PHASENAME") or get("SYSTEM_JOBNAME", ""),
        shard=shard_of(position, get("SYSTEM_TOTALJOBSINPHASE"), first=1),
        branch=branch_of(source),
        commit=get("BUILD_SOURCEVERSION", ""),
        head_sha=get("SYSTEM_PULLREQUEST_SOURCECOMMITID", ""),
        pr=pull or number(get("SYSTEM_PULLREQUEST_PULLREQUESTID")),
        base_branch=branch_of(get("SYSTEM_PULLREQUEST_TARGETBRANCH")),
        ci_url=_url(environ, build),
    )


def _url(environ: Environ, build: str) -> str:
    server = environ.get("SYSTEM_COLLECTIONURI") or environ.get(
        "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI", ""
    )
    project = quote(environ.get("SYSTEM_TEAMPROJECT", ""))
    if not (server and project and build):
        return ""
    return f"{server.rstrip('/')}/{project}/_build/results?buildId={build}"
