"""Jenkins, with or without multibranch pipelines."""

from __future__ import annotations

from healthboard_client.ci.facts import Environ, Facts, Load, branch_of, number


def applies(environ: Environ) -> bool:
    return bool(environ.get("JENKINS_URL") or environ.get("JENKINS_HOME"))


def read(environ: Environ, load: Load) -> Facts:
    """`CHANGE_*` are of a pull request, `GIT_*` of the last checkout."""
    get = environ.get
    remote = branch_of(get("GIT_BRANCH", ""))
    branch = remote[len("origin/") :] if remote.startswith("origin/") else remote
    change = number(get("CHANGE_ID"))
    plain = get("BRANCH_NAME") or branch
    return Facts(
        provider="jenkins",
        run=_run(environ),
        job=get("STAGE_NAME") or get("JOB_BASE_NAME", ""),
        # BRANCH_NAME of a pull request is `PR-538`.
        branch=get("CHANGE_BRANCH", "") if change else plain,
        commit=get("GIT_COMMIT", ""),
        pr=change,
        base_branch=get("CHANGE_TARGET", ""),
        ci_url=get("BUILD_URL", ""),
    )


def _run(environ: Environ) -> str:
    tag = environ.get("BUILD_TAG", "")
    job, build = environ.get("JOB_NAME", ""), environ.get("BUILD_NUMBER", "")
    return tag or (f"jenkins-{job}-{build}" if job and build else "")
