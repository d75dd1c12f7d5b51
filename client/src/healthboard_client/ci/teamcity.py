"""TeamCity, whose parameters stand in files of properties."""

from __future__ import annotations

import re

from healthboard_client.ci.facts import (
    Environ,
    Facts,
    Load,
    branch_of,
    number,
    shard_of,
)

_LINE = re.compile(r"^\s*([^#!\s=:][^=:\s]*)\s*[=:]\s*(.*?)\s*$", re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")
_BATCH = "teamcity.build.parallelTests."


def applies(environ: Environ) -> bool:
    return bool(environ.get("TEAMCITY_VERSION"))


def read(environ: Environ, load: Load) -> Facts:
    """The build's own properties name the file of the configuration's."""
    build = _properties(load(environ.get("TEAMCITY_BUILD_PROPERTIES_FILE", "")))
    more = _properties(load(build.get("teamcity.configuration.properties.file", "")))
    get = {**more, **build}.get
    number_of_build = environ.get("BUILD_NUMBER", "")
    run = get("teamcity.build.id") or "-".join(
        filter(None, (get("teamcity.buildType.id"), number_of_build))
    )
    server = get("teamcity.serverUrl", "").rstrip("/")
    source = get("teamcity.pullRequest.source.branch") or get("teamcity.build.branch")
    url = f"{server}/viewLog.html?buildId={run}" if server and run.isdigit() else ""
    return Facts(
        provider="teamcity",
        run=f"teamcity-{run}" if run else "",
        job=environ.get("TEAMCITY_BUILDCONF_NAME", ""),
        shard=shard_of(
            get(_BATCH + "currentBatch"), get(_BATCH + "totalBatches"), first=1
        ),
        branch=branch_of("" if source == "<default>" else source),
        commit=environ.get("BUILD_VCS_NUMBER") or get("build.vcs.number", ""),
        pr=number(get("teamcity.pullRequest.number")),
        base_branch=branch_of(get("teamcity.pullRequest.target.branch")),
        ci_url=environ.get("BUILD_URL") or url,
    )


def _properties(text: str) -> dict[str, str]:
    return {
        _ESCAPED.sub(r"\1", name): _ESCAPED.sub(r"\1", value)
        for name, value in _LINE.findall(text)
    }
