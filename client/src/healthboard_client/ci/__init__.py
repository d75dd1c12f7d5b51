"""What each CI's environment says of the run, the change and the shard."""

from __future__ import annotations

from healthboard_client.ci.facts import Facts
from healthboard_client.ci.reading import read_ci

__all__ = ["Facts", "read_ci"]
