"""The stage that keeps a pull request's comment and check up to date at its host.

Guarantees: a pull request has one comment, however many shards, uploads and workers
there are: who works on it holds its row, and a comment whose making was not answered is
looked for before another is made; nothing is said of what is green, or was said before.
"""

from __future__ import annotations

import hashlib
import logging
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from ingest import leases
from notify.channels import github, gitlab, words
from notify.channels.api import Api, HostError, Limited
from notify.channels.check import Check
from notify.freeing import free_dead
from notify.models import CodeHost, HostKind, Remark
from notify.outbox import wake
from notify.retrying import pause_after
from notify.wire import Gate
from pulls import queries
from results.storable import storable

if TYPE_CHECKING:
    from datetime import datetime

    from notify.channels.check import Host
    from pulls.models import Verdict
    from pulls.shapes import PullRow, Told

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=10)
ANSWER_BYTES = 16 * 2**20  # a hundred comments of 65,536 characters
GONE = (404, 410)
_rng = random.SystemRandom()
# Any, below: what a signal carries, and values of any field.


def verdict_was_stored(*, instance: Verdict, **_: Any) -> None:
    """Let the host be told; the transaction that stores the verdict is open."""
    pull = instance.pull
    if CodeHost.objects.filter(project=pull.project_id).exists():
        mark(pull.project_id, pull.number)


def mark(project_id: int, number: int) -> None:
    """Let a pull request's remark be made anew."""
    mine = Remark.objects.filter(project_id=project_id, number=number)
    # Who works on it now sees the mark when done; until then nobody else may.
    if mine.update(tries=0, marks=F("marks") + 1):
        mine.filter(lease="").update(due_at=timezone.now())
    else:
        row = Remark(project_id=project_id, number=number, due_at=timezone.now())
        Remark.objects.bulk_create([row], ignore_conflicts=True)
    wake("remarks")


def claim(now: datetime) -> Remark | None:
    """Take the remark that is due longest, at a host that does not ask to wait."""
    ready = Q(project__code_host__held_until=None)
    ready |= Q(project__code_host__held_until__lte=now)
    due = Remark.objects.filter(due_at__lte=now)
    for found in due.filter(ready).order_by("due_at", "pk")[:10]:
        lease = leases.new_lease()
        mine = due.filter(pk=found.pk, lease=found.lease, marks=found.marks)
        if mine.update(lease=lease, due_at=now + LEASE):
            found.lease = lease
            return found
    return claim(now) if free_dead(now) else None


def work(remark: Remark) -> None:
    """Tell the host what is new."""
    host = (
        CodeHost.objects.select_related("project").filter(pk=remark.project_id).first()
    )
    pull = queries.get_pull(remark.project_id, remark.number)
    if host is None or pull is None or pull.told is None:
        _finish(remark, {})
        return
    try:
        told = _tell(host, remark, pull, pull.told)
    except Limited as limit:
        until = timezone.now() + timedelta(seconds=limit.wait_s)
        CodeHost.objects.filter(pk=host.pk).update(held_until=until)
        _held(remark).update(due_at=until, lease="")
        return
    except HostError as error:
        _try_later(remark, host, str(error))
        return
    CodeHost.objects.filter(pk=host.pk).exclude(error="").update(error="")
    _finish(remark, told)


def give_back(remark: Remark, error: str) -> None:
    """Note our own error: another try later."""
    _try_later(remark, None, error)


def waiting(project_id: int | None = None) -> int:
    """Count the remarks that are due and were never tried."""
    found = Remark.objects.filter(due_at__lte=timezone.now(), tries=0)
    if project_id is not None:
        found = found.filter(project_id=project_id)
    return found.count()


def host_of(host: CodeHost) -> Host:
    """Sign in to a host."""
    gate = Gate(settings.HEALTHBOARD_WEBHOOK_ALLOW, answer_bytes=ANSWER_BYTES)
    api = Api(host.api_url, gate)
    if host.kind == HostKind.GITLAB:
        signed = gitlab.signed_in(api, token=host.secret)
        return gitlab.GitLab(signed, host.repository)
    if host.app_id:
        signed = github.signed_in(
            api, app=host.app_id, installation=host.installation_id, key=host.secret
        )
    else:
        signed = github.signed_in(api, token=host.secret)
    return github.GitHub(signed, host.repository)


def _tell(host: CodeHost, remark: Remark, pull: PullRow, told: Told) -> dict[str, Any]:
    """Say what was not said before; return what is remembered of it."""
    slug = host.project.slug
    url = f"{settings.SITE_ROOT}/p/{slug}/pulls/{pull.number}"
    there = host_of(host)
    said: dict[str, Any] = {}
    if host.comments:
        body = words.comment(pull, slug=slug, url=url, most=there.most_comment)
        quiet = words.is_quiet(pull)
        said |= _comment(there, remark, body, mark=words.marker(slug), quiet=quiet)
    if host.checks and told.head:
        summary = words.comment(pull, slug=slug, url=url, most=github.MOST_SUMMARY)
        key = _digest(f"{told.head} {words.conclusion(told)} {summary}")
        if key != remark.check_digest:
            there.put_check(_check(told, key=key, summary=summary, url=url))
            said["check_digest"] = key
    return said


def _check(told: Told, *, key: str, summary: str, url: str) -> Check:
    return Check(
        head=told.head,
        key=key,
        conclusion=words.conclusion(told),
        title=words.title(told),
        summary=summary,
        url=url,
        annotations=words.marked(told),
    )


def _comment(
    there: Host, remark: Remark, body: str, *, mark: str, quiet: bool
) -> dict[str, Any]:
    digest = _digest(body)
    if digest == remark.comment_digest:
        return {}
    known = remark.comment_id or there.find_comment(remark.number, mark)
    if known:
        try:
            there.edit_comment(remark.number, known, body)
        except HostError as error:
            if error.status not in GONE:
                raise
            known = ""  # somebody deleted it
    if not known:
        if quiet:
            return {"comment_id": "", "comment_digest": ""}
        known = there.make_comment(remark.number, body)
    said = {"comment_id": known, "comment_digest": digest}
    # At once: should the check fail, the comment is known by the next try.
    _held(remark).update(**said)
    return said


def _finish(remark: Remark, told: dict[str, Any]) -> None:
    now = timezone.now()
    done = {"lease": "", "tries": 0, "error": "", "told_at": now, **told}
    if not _held(remark).filter(marks=remark.marks).update(due_at=None, **done):
        _held(remark).update(due_at=now, **done)  # marked again meanwhile


def _try_later(remark: Remark, host: CodeHost | None, error: str) -> None:
    words_of_it = storable(error)[:300]
    pause = pause_after(remark.tries + 1, rng=_rng)
    due = timezone.now() + pause if pause is not None else None
    _held(remark).update(due_at=due, lease="", tries=F("tries") + 1, error=words_of_it)
    if host is not None:
        log.warning("remark=%s host=%s error=%s", remark.pk, host.pk, words_of_it)
        CodeHost.objects.filter(pk=host.pk).update(error=words_of_it)


def _held(remark: Remark) -> Any:  # a query of this row, while its lease is ours
    return Remark.objects.filter(pk=remark.pk, lease=remark.lease).exclude(lease="")


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
