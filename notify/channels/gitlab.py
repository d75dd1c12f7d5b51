"""GitLab: a note on the merge request, and a commit status.

Guarantees: a note of ours that is there already is edited. GitLab has no annotations;
the note names what GitHub would show at its line.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from notify.channels.api import HostError

if TYPE_CHECKING:
    from notify.channels.api import Api
    from notify.channels.check import Check

MOST_COMMENT = 900_000  # of 1,000,000
_STATES = {"failure": "failed", "success": "success", "neutral": "pending"}


def signed_in(api: Api, *, token: str) -> Api:
    return replace(api, headers={"PRIVATE-TOKEN": token})


class GitLab:
    most_comment = MOST_COMMENT

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._project = f"/projects/{quote(repository, safe='')}"

    def find_comment(self, number: int, mark: str) -> str:
        """Return the id of our note, or nothing."""
        for one in self._api.pages(f"{self._notes(number)}?sort=asc"):
            if str(one.get("body") or "").startswith(mark):
                return str(one["id"])
        return ""

    def make_comment(self, number: int, body: str) -> str:
        return str(self._api.call("POST", self._notes(number), {"body": body})["id"])

    def edit_comment(self, number: int, comment: str, body: str) -> None:
        self._api.call("PUT", f"{self._notes(number)}/{comment}", {"body": body})

    def put_check(self, check: Check) -> None:
        body = {
            "state": _STATES[check.conclusion],
            "name": check.name,
            "description": check.title[:255],
            "target_url": check.url,
        }
        path = f"{self._project}/statuses/{quote(check.head, safe='')}"
        try:
            self._api.call("POST", path, body)
        except HostError as error:
            # The same state once more is an error there, and no news.
            if error.status != 400 or "transition" not in str(error).lower():
                raise

    def _notes(self, number: int) -> str:
        return f"{self._project}/merge_requests/{number}/notes"
