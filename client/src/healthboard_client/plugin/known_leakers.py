"""The server's list of known leakers, as the ratchet's baseline.

Guarantees: where the list cannot be had (no token in a fork's build, no network)
nothing is enforced, and the summary says so: a gate must not turn red by a network.
Loaded only when the baseline is the server's, because it speaks HTTP.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from healthboard_client.exits import Misuse, Unanswered
from healthboard_client.server import Server
from healthboard_client.settings import Settings, token_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from healthboard_client.plugin.baseline import Entry

_KNOWN = frozenset({"open", "muted", "dismissed"})
_PATIENCE_S = 10.0


def ask(environ: Mapping[str, str] = os.environ) -> tuple[frozenset[Entry] | None, str]:
    """Return the known leaks, or None and why there is no list."""
    url = environ.get("HEALTHBOARD_URL", "").strip().rstrip("/")
    token = token_of(environ)
    if not url or not token:
        why = "HEALTHBOARD_URL or HEALTHBOARD_TOKEN is not set"
        return None, f"no list of known leakers, so nothing is enforced: {why}"
    project = environ.get("HEALTHBOARD_PROJECT", "").strip()
    server = Server(Settings(url, token, project, retry_for=_PATIENCE_S))
    try:
        leakers = list(server.items(server.of_project("leakers")))
        return frozenset(_entries(leakers)), ""
    except (Misuse, Unanswered, KeyError, TypeError) as error:
        return None, f"no list of known leakers, so nothing is enforced: {error}"


def _entries(leakers: Iterable[Mapping[str, object]]) -> Iterable[Entry]:
    for leaker in leakers:
        kinds = leaker["kinds"]
        if leaker["state"] in _KNOWN and isinstance(kinds, list):
            yield from ((str(leaker["nodeid"]), str(kind)) for kind in kinds)
