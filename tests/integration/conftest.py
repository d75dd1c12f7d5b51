"""The one running server of all acceptance tests, and a project of it for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import outside
from tests.conftest import ROOT

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


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The shared samples, for fixtures that live longer than a test."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("no shared samples beside this clone")
    return path
