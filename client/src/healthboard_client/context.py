"""The context of an upload: what the options, the CI and git say, in this order.

Guarantees: every field has the form that the server asks for, or is left out with a
remark; an option always wins over what was read.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from healthboard_client import PROTOCOL, __version__
from healthboard_client.ci import Facts, read_ci
from healthboard_client.exits import Misuse
from healthboard_client.repository import History, read_history

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

LONGEST = 1_000
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_COMMIT = re.compile(r"[0-9A-Za-z._-]{1,64}")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)"
)
_WEB = re.compile(r"https?://[^\s/?#]+\S*", re.IGNORECASE)
_SHARD = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")
_SYSTEMS = {"darwin": "macos", "win32": "windows"}
# What each field must look like; the rest is free text.
_FORMS = {
    "commit": _COMMIT,
    "head_sha": _COMMIT,
    "base_sha": _COMMIT,
    "merge_base": _COMMIT,
    "committed_at": _STAMP,
    "started_at": _STAMP,
    "ci_url": _WEB,
}


@dataclass
class Gathered:
    """The context as it is sent, and what should be said about it."""

    values: dict[str, Any]  # Any: JSON
    provider: str = ""
    remarks: list[str] = field(default_factory=list)


def gather(options: argparse.Namespace, environ: Mapping[str, str]) -> Gathered:
    """Put the context together; raise `Misuse` for an option that is wrong."""
    ci = read_ci(environ)
    git = read_history(
        head=options.head_sha or ci.head_sha,
        base_branch=options.base_branch or ci.base_branch,
    )
    values = {**_read(ci, git), **_given(options), "environment": _environment(options)}
    if not values.get("job"):
        values.pop("job", None)
    found = Gathered({}, ci.provider, list(git.remarks))
    for name, value in values.items():
        _take(found, name, value)
    found.values |= {
        "client": f"healthboard-client/{__version__}",
        "protocol": PROTOCOL,
    }
    return found


def _read(ci: Facts, git: History) -> dict[str, Any]:
    """Take what the CI says, and git's word where it says nothing."""
    in_change = bool(ci.pr)
    return {
        "run": ci.run,
        "attempt": ci.attempt,
        "job": ci.job,
        "shard": {"index": ci.shard[0], "count": ci.shard[1]} if ci.shard else None,
        "branch": ci.branch or ("" if in_change else git.branch),
        "commit": ci.commit or git.commit,
        "head_sha": ci.head_sha,
        "base_sha": ci.base_sha,
        "committed_at": git.committed_at or ci.committed_at,
        "started_at": ci.started_at,
        "pr": ci.pr,
        "base_branch": ci.base_branch,
        "merge_base": ci.merge_base or git.merge_base,
        "ancestry": git.ancestry,
        "ci_url": ci.ci_url,
    }


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say."""
    names = (
        "project run attempt job branch commit head_sha base_sha pr base_branch "
        "exit_code started_at test"
    )
    given: dict[str, Any] = {
        name: value
        for name in names.split()
        if (value := getattr(options, name)) is not None
    }
    if options.shard:
        given["shard"] = _shard(options.shard)
    if options.incomplete:
        given["complete"] = False
    return given


def _shard(text: str) -> dict[str, int]:
    match = _SHARD.fullmatch(text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise Misuse(f"--shard must be INDEX/COUNT from 1/COUNT on, not {text!r}")
    return {"index": int(match[1]), "count": int(match[2])}


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """Runs of one name and another environment are other runs."""
    environment = here()
    for pair in options.env or []:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise Misuse(f"--env must be NAME=VALUE, not {pair!r}")
        environment[name] = value
    return {name: value for name, value in environment.items() if value}


def here() -> dict[str, str]:
    """Return the environment as far as this process knows it."""
    system = _SYSTEMS.get(sys.platform, sys.platform)
    return {"os": system, "python": f"{sys.version_info[0]}.{sys.version_info[1]}"}


def _take(found: Gathered, name: str, value: Any) -> None:
    """Add one field if it says anything and is of the right form."""
    if value is None or value == "" or value == []:
        return
    if isinstance(value, str):
        value = _CONTROL.sub(" ", value)[:LONGEST].strip()
        form = _FORMS.get(name)
        if form is not None and not form.fullmatch(value):
            found.remarks.append(f"{name} {value[:80]!r} has another form; not sent")
            return
    if value not in (None, ""):
        found.values[name] = value
