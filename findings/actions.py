"""What people decide: a state, an owner, a due date, a split, a join.

Guarantees: all of a call or nothing of it is stored, with who, when and why; a
decision is made on the finding as it is now, not as a page showed it; what is stored
is what the next review finds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F

from findings.happened import happened_on
from findings.models import ClusterDecision, Course, Decision, Finding
from findings.rows import known_of
from findings.storing import due_days, hold
from findings.telling import hand, tell
from findings.writing import rerank, write
from formats.reviews.clusters import Hand
from formats.reviews.life import State, Undecidable, decide
from results.storable import storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from projects.models import Project

_TRIES = 20
_LONGEST_OWNER = 200


class Contended(RuntimeError):
    """Others kept changing the same pull request; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is decided; None: it stays as it is. An empty owner: nobody."""

    state: State | None = None
    reason: str = ""
    owner: str | None = None
    due: datetime | None = None


def apply(
    project: Project, ids: Collection[int], wish: Wish, *, by: str, now: datetime
) -> int:
    """Decide on findings; return how many changed. Raise `Undecidable` for none."""
    if wish.owner is not None and len(wish.owner) > _LONGEST_OWNER:
        raise Undecidable(f"an owner has at most {_LONGEST_OWNER} characters")
    chosen = Finding.objects.filter(project=project, pk__in=list(ids))
    courses = sorted(set(chosen.values_list("course", flat=True)))
    with transaction.atomic():
        for pk in courses:  # in one order, so that two people never wait in a ring
            Course.objects.filter(pk=pk).update(version=F("version") + 1)
        changed = [
            row for row in chosen.order_by("pk") if _decide(row, wish, by=by, now=now)
        ]
        rerank(row.cluster_id for row in changed if row.cluster_id is not None)
    return len(changed)


def split(
    project: Project, ids: Collection[int], *, by: str, now: datetime, reason: str = ""
) -> None:
    """Part these findings from the rest of their cluster."""
    rows = _of_one_course(project, ids)
    clusters = {row.cluster_id for row in rows}
    if len(clusters) > 1:
        raise Undecidable("what is split is part of one cluster")
    these = {row.key for row in rows}
    rest = Finding.objects.filter(cluster__in=clusters).exclude(key__in=these)
    those = set(rest.values_list("key", flat=True))
    if not those:
        raise Undecidable("the whole of a cluster cannot be split from it")
    _regroup(rows[0], Hand.SPLIT, these, those, by=by, now=now, reason=reason)


def join(
    project: Project, ids: Collection[int], *, by: str, now: datetime, reason: str = ""
) -> None:
    """Put these findings, and the clusters that they are of, together."""
    rows = _of_one_course(project, ids)
    if len(rows) < 2:
        raise Undecidable("it takes two findings to join them")
    these = {row.key for row in rows}
    _regroup(rows[0], Hand.JOIN, these, set(), by=by, now=now, reason=reason)


def _decide(row: Finding, wish: Wish, *, by: str, now: datetime) -> bool:
    """Change one finding that is held; tell whether anything changed."""
    made = []
    fields: dict[str, object] = {}
    if wish.state is not None:
        known = decide(known_of(row), wish.state, now=now, reason=storable(wish.reason))
        if (known.state, known.reason) != (row.state, row.reason):
            made.append((Decision.What.STATE, row.state, known.state.value))
            fields |= {
                "state": known.state.value,
                "reason": known.reason,
                "opened_at": known.opened_at,
                "raised_since_fixed": 0,
            }
    if wish.owner is not None and storable(wish.owner).strip() != row.owner:
        fields["owner"] = storable(wish.owner).strip()
        made.append((Decision.What.OWNER, row.owner, str(fields["owner"])))
    if wish.due is not None and wish.due != row.due:
        fields |= {"due": wish.due, "due_by_hand": True}
        made.append((Decision.What.DUE, row.due.isoformat(), wish.due.isoformat()))
    if not fields:
        return False
    Finding.objects.filter(pk=row.pk).update(**fields)
    Decision.objects.bulk_create(
        Decision(
            course_id=row.course_id,
            key=row.key,
            at=now,
            by=by[:200],
            what=what,
            before=before,
            after=after,
            reason=storable(wish.reason).strip(),
        )
        for what, before, after in made
    )
    return True


def _of_one_course(project: Project, ids: Iterable[int]) -> list[Finding]:
    rows = list(Finding.objects.filter(project=project, pk__in=list(ids)))
    if not rows:
        raise Undecidable("no finding was chosen")
    if len({row.course_id for row in rows}) > 1:
        raise Undecidable("findings of two pull requests are not of one cluster")
    if rows[0].source != "review":
        raise Undecidable("findings of effects each stand alone")
    return rows


def _regroup(
    row: Finding,
    act: Hand,
    these: set[str],
    those: set[str],
    *,
    by: str,
    now: datetime,
    reason: str,
) -> None:
    for _ in range(_TRIES):
        course = Course.objects.select_related("project").get(pk=row.course_id)
        happened = happened_on(course)
        happened = replace(
            happened, hands=[*happened.hands, hand(act.value, these, those)]
        )
        told = tell(happened, pr=course.pr or None, days=due_days(course.project))
        with transaction.atomic():
            if not hold(course):
                continue
            ClusterDecision.objects.create(
                course=course,
                at=now,
                by=by[:200],
                hand=act.value,
                these=sorted(these),
                those=sorted(those),
                reason=storable(reason),
            )
            write(course, told)
            return
    raise Contended(f"{course} kept changing")
