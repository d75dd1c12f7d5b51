"""The uploads that CI sends in the story, in the order of their runs.

Guarantees: each has an id of its own, and the same bytes whenever it is made for the
same end of the history, so that sending it again adds nothing. Pure.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from healthboard.demo import reports
from healthboard.demo.execution import Outcome, execute
from healthboard.demo.history import Quirk, history
from healthboard.demo.suite import SHARDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from healthboard.demo.execution import Attempt
    from healthboard.demo.history import Run

_BOUNDARY = "-----lantern-ci-boundary"
CONTENT_TYPE = f"multipart/form-data; boundary={_BOUNDARY}"


@dataclass(frozen=True, slots=True)
class File:
    kind: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Delivery:
    """One upload. `elapsed` is the share of the history that it stands at the end of."""

    key: str
    context: dict[str, Any]  # Any: JSON
    files: tuple[File, ...]
    failed: bool
    elapsed: float

    def body(self) -> bytes:
        """Return the gzip-compressed multipart body, the same bytes each time."""
        parts = [_part('name="context"', json.dumps(self.context).encode())]
        parts += [
            _part(f'name="{file.kind}"; filename="{file.name}"', file.content)
            for file in self.files
        ]
        whole = b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()
        return gzip.compress(whole, compresslevel=1, mtime=0)


def deliveries(until: datetime) -> Iterator[Delivery]:
    """Yield every upload of the history that ends at `until`, oldest first."""
    for run in history(until):
        if run.pull is not None:
            yield _delivery(run, shard=None)
            continue
        for shard in range(1, SHARDS + 1):
            if run.quirk is Quirk.SHARD_LOST and shard == SHARDS:
                continue
            sent = _delivery(run, shard=shard)
            yield sent
            if sent.failed and run.quirk is Quirk.RERUN:
                yield _delivery(run, shard=shard, attempt=2)


def _delivery(run: Run, *, shard: int | None, attempt: int = 1) -> Delivery:
    attempts = execute(run, shard=shard, attempt=attempt)
    files = _files(run, shard, attempts)
    failed = any(one.outcome in (Outcome.FAILED, Outcome.ERROR) for one in attempts)
    place = {"index": shard or 1, "count": SHARDS if shard else 1}
    context: dict[str, Any] = {  # Any: JSON
        "run": run.name,
        "attempt": attempt,
        "job": "unit" if shard else "pull-request",
        "shard": place,
        "environment": {"os": "linux", "python": run.python},
        "branch": run.branch,
        "commit": run.commit.sha,
        "committed_at": run.commit.at.isoformat(),
        "started_at": run.started_at.isoformat(),
        "ancestry": list(run.ancestry),
        "ci_url": f"https://ci.example.org/lantern/runs/{run.number}",
        "exit_code": int(failed),
        "client": "healthboard-demo",
        "protocol": 1,
    }
    if run.pull is not None:
        context |= {
            "pr": run.pull,
            "base_branch": "main",
            "merge_base": run.merge_base,
        }
    key = f"{run.name}-py{run.python}-{place['index']}-of-{place['count']}-{attempt}"
    return Delivery(key, context, files, failed, run.elapsed)


def _files(run: Run, shard: int | None, attempts: list[Attempt]) -> tuple[File, ...]:
    started_at = run.started_at
    host = f"runner-{run.number % 4 + 1}"
    if run.quirk is Quirk.ERROR_PAGE:
        return (File("junit", "junit.xml", reports.ERROR_PAGE),)
    if run.quirk is Quirk.REPORTLOG and shard == 1:
        log = reports.reportlog(attempts, started_at=started_at)
        return (File("reportlog", "reportlog.jsonl", log),)
    if run.quirk is Quirk.TORN_FILE and shard == 1:
        halves = [
            [one for one in attempts if ("/agent/" in one.case.file) is agent]
            for agent in (True, False)
        ]
        whole, cut = (
            reports.junit(half, started_at=started_at, host=host) for half in halves
        )
        return (
            File("junit", "junit-agent.xml", whole),
            File("junit", "junit-rest.xml", reports.torn(cut)),
        )
    report = reports.junit(attempts, started_at=started_at, host=host)
    files = [File("junit", "junit.xml", report)]
    if run.traced:
        trace = reports.order(attempts, started_at=started_at)
        files.append(File("order", "order.jsonl", trace))
    return tuple(files)


def _part(disposition: str, content: bytes) -> bytes:
    head = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"
