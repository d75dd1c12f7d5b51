"""One real server for all tests of the client, and a job that speaks to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import outside
from tests.client.running import Job

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[outside.Outside]:
    yield from outside.outside(tmp_path_factory.mktemp("outside"))


@pytest.fixture
def project(running: outside.Outside) -> outside.Project:
    """A project that is still empty."""
    return running.project()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job without a server."""
    return Job(tmp_path)


@pytest.fixture
def connected(tmp_path: Path, project: outside.Project) -> Job:
    """A job whose server and project are there."""
    return Job(tmp_path, project.server.address, project.token)
