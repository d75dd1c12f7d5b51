"""Commands that sign and send to a route, as its page shows them. Pure.

They can be pasted as they are: the secret comes from the environment, the payload from
a file, and nothing but curl and openssl, or Python itself, is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

VARIABLE = "HEALTHBOARD_ROUTE_SECRET"

_FILES = {"gate": "leaks.json", "effects": "effects.jsonl", "review": "review.md"}
_TYPES = {"effects": "application/x-ndjson", "review": "text/markdown"}

_CURL = """\
{stamped}curl --fail-with-body --data-binary @{file} \\
{headers}
  '{url}'"""
_CURL_V2 = """\
stamp=$(date +%s)
signature=$({ printf '%s.' "$stamp"; cat <file>; } \\
  | openssl dgst -sha256 -hmac "$<secret>" -r | cut -d' ' -f1)
"""
_CURL_HUB = """\
signature=$(openssl dgst -sha256 -hmac "$<secret>" -r <file> | cut -d' ' -f1)
"""
_PYTHON = """\
import hmac
import pathlib
import time
import urllib.request
from os import environ

secret = environ["{secret}"]
body = pathlib.Path("{file}").read_bytes()
{signed}
url = "{url}"
request = urllib.request.Request(url, data=body, headers=headers)
with urllib.request.urlopen(request) as answer:
    print(answer.status, answer.read().decode())"""
_PYTHON_V2 = """\
stamp = str(int(time.time()))
signed = f"{stamp}.".encode() + body
headers = {
    "Content-Type": "<type>",
    "X-Webhook-Timestamp": stamp,
    "X-Webhook-Signature-V2": hmac.digest(secret.encode(), signed, "sha256").hex(),
}"""
_PYTHON_HUB = """\
headers = {
    "Content-Type": "<type>",
    "X-GitHub-Event": "ping",
    "X-Hub-Signature-256": "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex(),
}"""
_PYTHON_LAB = """\
headers = {
    "Content-Type": "<type>",
    "X-Gitlab-Event": "Push Hook",
    "X-Gitlab-Token": secret,
}"""
_UNUSED = {
    "github": ("import time\n",),
    "gitlab": ("import hmac\n", "import time\n"),
}


@dataclass(frozen=True, slots=True)
class Samples:
    """How to send to a route; `export` puts a secret that is shown now where the
    others look for it."""

    export: str
    curl: str
    python: str


def samples(kind: str, *, url: str, secret: str = "") -> Samples:
    """Return what can be pasted for a route of this kind at this address."""
    export = f"export {VARIABLE}='{secret}'" if secret else f"export {VARIABLE}=…"
    return Samples(export, _curl(kind, url), _python(kind, url))


def _curl(kind: str, url: str) -> str:
    stamped, headers = {
        "github": (
            _CURL_HUB,
            ["X-GitHub-Event: ping", "X-Hub-Signature-256: sha256=$signature"],
        ),
        "gitlab": ("", ["X-Gitlab-Event: Push Hook", f"X-Gitlab-Token: ${VARIABLE}"]),
    }.get(
        kind,
        (
            _CURL_V2,
            ["X-Webhook-Timestamp: $stamp", "X-Webhook-Signature-V2: $signature"],
        ),
    )
    file = _file(kind)
    lines = [f"Content-Type: {_type(kind)}", *headers]
    return _CURL.format(
        stamped=stamped.replace("<file>", file).replace("<secret>", VARIABLE),
        file=file,
        headers="\n".join(f'  -H "{line}" \\' for line in lines),
        url=url,
    )


def _python(kind: str, url: str) -> str:
    signed = {"github": _PYTHON_HUB, "gitlab": _PYTHON_LAB}.get(kind, _PYTHON_V2)
    text = _PYTHON.format(
        secret=VARIABLE,
        file=_file(kind),
        signed=signed.replace("<type>", _type(kind)),
        url=url,
    )
    for line in _UNUSED.get(kind, ()):
        text = text.replace(line, "", 1)
    return text


def _file(kind: str) -> str:
    return _FILES.get(kind, "event.json")


def _type(kind: str) -> str:
    return _TYPES.get(kind, "application/json")
