"""GitHub: a comment on the pull request, and a check run (or a commit status).

Guarantees: a comment or check of ours that is there already is edited, also one whose
making was never answered; annotations go 50 a call. A check run needs an app: with a
plain token a commit status stands for it.
"""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from joserfc import jwt
from joserfc.jwk import RSAKey

from notify.channels.api import Api, HostError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from notify.channels.check import Check
    from notify.channels.words import Annotation

MOST_COMMENT = 65_000  # of 65,536
MOST_SUMMARY = 65_000
AT_ONCE = 50
_FORBIDDEN = (403, 404)
# Any, below: JSON.


def signed_in(
    api: Api, *, token: str = "", app: str = "", installation: str = "", key: str = ""
) -> Api:
    """Return the API as a token, or as an app's installation."""
    known = {
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    if app:
        bearer = _app_token(app, key)
        asking = replace(api, headers={**known, "Authorization": f"Bearer {bearer}"})
        path = f"/app/installations/{quote(installation, safe='')}/access_tokens"
        token = str(asking.call("POST", path)["token"])
    return replace(api, headers={**known, "Authorization": f"Bearer {token}"})


class GitHub:
    most_comment = MOST_COMMENT

    def __init__(self, api: Api, repository: str) -> None:
        self._api = api
        self._repo = f"/repos/{quote(repository)}"

    def find_comment(self, number: int, mark: str) -> str:
        """Return the id of our comment, or nothing."""
        for one in self._api.pages(f"{self._repo}/issues/{number}/comments"):
            if str(one.get("body") or "").startswith(mark):
                return str(one["id"])
        return ""

    def make_comment(self, number: int, body: str) -> str:
        path = f"{self._repo}/issues/{number}/comments"
        return str(self._api.call("POST", path, {"body": body})["id"])

    def edit_comment(self, number: int, comment: str, body: str) -> None:
        self._api.call(
            "PATCH", f"{self._repo}/issues/comments/{comment}", {"body": body}
        )

    def put_check(self, check: Check) -> None:
        """Make or renew the check of a commit."""
        try:
            made = self._find_check(check)
            self._write_check(check, made)
        except HostError as error:
            if error.status not in _FORBIDDEN:
                raise
            self._put_status(check)

    def _find_check(self, check: Check) -> dict[str, Any] | None:
        path = f"{self._repo}/commits/{quote(check.head)}/check-runs"
        found = self._api.call("GET", f"{path}?check_name={quote(check.name)}")
        runs = found.get("check_runs", [])
        return next((one for one in runs if one.get("external_id") == check.key), None)

    def _write_check(self, check: Check, made: dict[str, Any] | None) -> None:
        """Send the annotations that are not there yet, 50 a call."""
        sent = 0
        if made is not None:
            sent = int((made.get("output") or {}).get("annotations_count") or 0)
        pieces = list(_pieces(check.annotations[sent:])) or [[]]
        for piece in pieces:
            body = _check_body(check, piece)
            if made is None:
                body |= {"head_sha": check.head, "external_id": check.key}
                made = self._api.call("POST", f"{self._repo}/check-runs", body)
            else:
                self._api.call("PATCH", f"{self._repo}/check-runs/{made['id']}", body)

    def _put_status(self, check: Check) -> None:
        states = {"failure": "failure", "success": "success", "neutral": "pending"}
        body = {
            "state": states[check.conclusion],
            "context": check.name,
            "description": check.title[:140],
            "target_url": check.url,
        }
        self._api.call("POST", f"{self._repo}/statuses/{quote(check.head)}", body)


def _check_body(check: Check, piece: Sequence[Annotation]) -> dict[str, Any]:
    return {
        "name": check.name,
        "status": "completed",
        "conclusion": check.conclusion,
        "details_url": check.url,
        "output": {
            "title": check.title,
            "summary": check.summary,
            "annotations": [_annotation(one) for one in piece],
        },
    }


def _annotation(one: Annotation) -> dict[str, Any]:
    told = asdict(one)
    return {
        "path": told["path"],
        "start_line": told["line"],
        "end_line": told["line"],
        "annotation_level": "failure" if one.failure else "warning",
        "title": told["title"],
        "message": told["message"],
    }


def _pieces(every: Sequence[Annotation]) -> list[Sequence[Annotation]]:
    return [every[n : n + AT_ONCE] for n in range(0, len(every), AT_ONCE)]


def _app_token(app: str, key: str) -> str:
    """Sign in as the app itself, for the nine minutes that GitHub allows."""
    now = int(time.time())
    claims = {"iss": app, "iat": now - 60, "exp": now + 540}
    return jwt.encode({"alg": "RS256"}, claims, RSAKey.import_key(key))
