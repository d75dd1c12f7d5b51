"""Where the server is and who asks: from options and the environment.

Guarantees: the token comes from HEALTHBOARD_TOKEN alone; an address that could not be
used is refused by name before anything is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from healthboard_client.exits import Misuse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

_ADDRESS = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", re.IGNORECASE)
_TOKEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Settings:
    """One server, one project."""

    url: str
    token: str = field(repr=False)
    project: str = ""
    retry_for: float = 120.0


def token_of(environ: Mapping[str, str]) -> str:
    return environ.get("HEALTHBOARD_TOKEN", "").strip()


def read_settings(options: argparse.Namespace, environ: Mapping[str, str]) -> Settings:
    """Read the settings; raise `Misuse` for what is missing or cannot be used."""
    url = (options.url or environ.get("HEALTHBOARD_URL", "")).strip().rstrip("/")
    token = token_of(environ)
    if not url:
        raise Misuse("HEALTHBOARD_URL (or --url) is not set: the server's address")
    if not _ADDRESS.fullmatch(url):
        raise Misuse("HEALTHBOARD_URL must look like https://health.example.com")
    if not token:
        raise Misuse(
            "HEALTHBOARD_TOKEN is not set (a pull request from a fork gets no secrets)"
        )
    if not _TOKEN.fullmatch(token):
        raise Misuse("HEALTHBOARD_TOKEN holds a blank or a character outside of ASCII")
    project = options.project or environ.get("HEALTHBOARD_PROJECT", "").strip()
    return Settings(url, token, project, _retry_for(options, environ))


def _retry_for(options: argparse.Namespace, environ: Mapping[str, str]) -> float:
    if options.retry_for is not None:
        return float(options.retry_for)
    text = environ.get("HEALTHBOARD_RETRY_FOR", "").strip()
    if not text:
        return Settings.retry_for
    try:
        return max(0.0, float(text))
    except ValueError:
        raise Misuse("HEALTHBOARD_RETRY_FOR must be a number of seconds") from None
