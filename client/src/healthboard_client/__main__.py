"""`python -m healthboard_client` is `healthboard-ci`."""

from __future__ import annotations

from healthboard_client.cli import entry

entry()
