"""What git knows of the commit: branch, time, merge base and ancestry.

Guarantees: it only reads; whatever git cannot tell stays empty and is said in one
remark, as a checkout may be shallow, be none at all, or belong to somebody else.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field

MOST_ANCESTORS = 500
PATIENCE_S = 20


@dataclass
class History:
    """One checkout; empty where git does not say."""

    commit: str = ""
    branch: str = ""
    committed_at: str = ""
    base_branch: str = ""
    merge_base: str = ""
    ancestry: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read_history(*, head: str = "", base_branch: str = "") -> History:
    """Read the checkout of the working directory.

    `head` is the head of a pull request where it is not what is checked out.
    """
    found = History()
    answer = _ask("rev-parse", "--is-shallow-repository", "HEAD").split()
    if len(answer) != 2:
        found.remarks.append("git knows no commit here: no ancestry is sent")
        return found
    shallow, found.commit = answer[0] == "true", answer[1]
    found.branch = _ask("symbolic-ref", "-q", "--short", "HEAD")
    tip = (
        head
        if head and _ask("rev-parse", "-q", "--verify", f"{head}^{{commit}}")
        else ""
    )
    if head and not tip:
        found.remarks.append(f"git does not have the head {head[:12]}: fetch it for")
        found.remarks[-1] += " the ancestry"
        return found
    tip = tip or found.commit
    found.committed_at = _ask("log", "-1", "--format=%cI", tip)
    found.ancestry = _ask(
        "rev-list", "--first-parent", f"--max-count={MOST_ANCESTORS}", tip
    ).split()
    found.base_branch = base_branch or _default_branch()
    found.merge_base = _merge_base(found.base_branch, tip)
    if shallow:
        found.remarks.append(
            f"this clone is shallow ({len(found.ancestry)} commits): what is inherited "
            "can be told better with the whole history (fetch-depth: 0)"
        )
    return found


def _default_branch() -> str:
    name = _ask("symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD")
    return name.partition("/")[2]


def _merge_base(branch: str, tip: str) -> str:
    if not branch or branch.startswith("-"):
        return ""
    for name in (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}"):
        found = _ask("merge-base", name, tip)
        if found:
            return found
    return ""


def _ask(*arguments: str) -> str:
    """Return what git says on one question; "" where it says nothing."""
    # A prompt for a password would hang the job, and a lock would disturb another's.
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        answer = subprocess.run(
            ["git", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **quiet},
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    if answer.returncode:
        return ""
    return answer.stdout.decode(errors="replace").strip()
