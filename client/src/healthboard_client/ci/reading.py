"""Which CI this is; the first that knows itself answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from healthboard_client.ci import (
    azure,
    bitbucket,
    buildkite,
    circleci,
    facts,
    github,
    gitlab,
    jenkins,
    teamcity,
)

if TYPE_CHECKING:
    from healthboard_client.ci.facts import Environ, Facts, Load


class Reader(Protocol):
    """The module of one CI."""

    def applies(self, environ: Environ) -> bool:
        """Tell whether this is the CI."""

    def read(self, environ: Environ, load: Load) -> Facts:
        """Read what it says."""


# Jenkins is last: its agents often leave their variables to other things.
READERS: tuple[Reader, ...] = (
    github,
    gitlab,
    circleci,
    buildkite,
    azure,
    bitbucket,
    teamcity,
    jenkins,
)


def read_ci(environ: Environ, *, load: Load = facts.load) -> Facts:
    """Return what the CI says; nothing outside of one."""
    for reader in READERS:
        if reader.applies(environ):
            return reader.read(environ, load)
    return facts.Facts()
