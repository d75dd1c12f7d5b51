"""Looking commits up by what people and tools call them.

Guarantees: seven or more hex digits find the one commit that they begin, and a commit
that was first told by so many is found by all of them; where several fit, none does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db.models import Q

from formats.context import matches_commit
from formats.hooks.values import as_sha
from pulls.models import Commit

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEX = re.compile(r"[0-9a-f]{7,64}")
_WHOLE = (40, 64)  # digits of SHA-1 and of SHA-256
_AT_ONCE = 100


def is_short(sha: str) -> bool:
    """Tell whether this may be the beginning of a longer one."""
    return bool(_HEX.fullmatch(sha)) and len(sha) not in _WHOLE


def find_commit(project_id: int, sha: str) -> Commit | None:
    """Return the commit of this name."""
    name = as_sha(sha)
    return find_commits(project_id, [name]).get(name) if name else None


def find_commits(project_id: int, shas: Iterable[str]) -> dict[str, Commit]:
    """Return those that are known, by the names that were asked for.

    One that is now told by more digits than before is stored by them.
    """
    wanted = list(dict.fromkeys(shas))
    mine = Commit.objects.filter(project_id=project_id)
    found: dict[str, Commit] = {}
    for start in range(0, len(wanted), 500):
        exact = mine.filter(sha__in=wanted[start : start + 500])
        found |= {commit.sha: commit for commit in exact}
    missing = [sha for sha in wanted if sha not in found and _HEX.fullmatch(sha)]
    if not missing:
        return found
    found |= _by_beginning(project_id, [sha for sha in missing if is_short(sha)])
    beginnings = list(mine.filter(short=True))
    for sha in missing if beginnings else ():
        fits = [one for one in beginnings if matches_commit(sha, one.sha)]
        if sha not in found and len(fits) == 1:
            _lengthen(fits[0], sha)
            found[sha] = fits[0]
    return found


def _by_beginning(project_id: int, shas: list[str]) -> dict[str, Commit]:
    """Return the commits that these begin; a range, which an index answers."""
    found: dict[str, Commit] = {}
    for start in range(0, len(shas), _AT_ONCE):
        some = shas[start : start + _AT_ONCE]
        ranges = Q()
        for sha in some:
            ranges |= Q(sha__gte=sha, sha__lt=f"{sha}g")
        rows = list(Commit.objects.filter(ranges, project_id=project_id)[:10_000])
        for sha in some:
            fits = [row for row in rows if row.sha.startswith(sha)]
            if len(fits) == 1:
                found[sha] = fits[0]
    return found


def _lengthen(commit: Commit, sha: str) -> None:
    commit.sha, commit.short = sha, is_short(sha)
    Commit.objects.filter(pk=commit.pk).update(sha=sha, short=commit.short)
