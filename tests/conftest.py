"""Fixtures of every test: the real servers, the shared samples, no network.

A second run of the same suite on PostgreSQL (`HEALTHBOARD_TEST_DATABASE`) takes the
integration tests alone; see docs/development.md.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings as hypothesis_settings

from tests.services import chromium, databases, postgres, session, valkey

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
ON_POSTGRES = os.environ.get("HEALTHBOARD_TEST_DATABASE") == "postgresql"
# Parts that bring their own servers say the same on either database.
ONCE = ("browser", "kill", "valkey", "postgres")

hypothesis_settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None
)
hypothesis_settings.register_profile("explore", max_examples=2_000, deadline=None)
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "ci")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    wanted = config.option.markexpr or ""
    dropped = [item for item in items if not _runs_now(item, wanted)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in set(dropped)]


def _runs_now(item: pytest.Item, wanted: str) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    if "benchmark" in marks and "benchmark" not in wanted:
        return False
    if not ON_POSTGRES:
        return True
    return "tests/integration/" in item.path.as_posix() and marks.isdisjoint(ONCE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip, or fail in CI, what needs a server or a browser that is not there."""
    if item.get_closest_marker("postgres") and not postgres.available():
        session.unavailable("PostgreSQL")
    if item.get_closest_marker("valkey") and not valkey.available():
        session.unavailable("Valkey")
    if item.get_closest_marker("browser") and chromium.find() is None:
        session.unavailable("Chromium")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Say how the earlier run went, before the closing line of this one."""
    tally = os.environ.get("HEALTHBOARD_TEST_TALLY")
    if not tally or hasattr(config, "workerinput"):
        return
    counts = {
        kind: len(terminalreporter.stats.get(kind, []))
        for kind in ("passed", "failed", "error", "skipped")
    }
    line = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    with Path(tally).open("a") as file:
        file.write(f"{database}: {line or 'no tests'} (exit {int(exitstatus)})\n")
    terminalreporter.section("on every database")
    terminalreporter.write_line(Path(tally).read_text().rstrip())


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Nothing that a test does leaves this machine."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:  # Any: by family
        if self.family in (socket.AF_INET, socket.AF_INET6):
            assert address[0] in ("127.0.0.1", "::1", "localhost"), address
        real(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        yield


@pytest.fixture
def shared() -> Path:
    """The project's shared samples, beside the clone; most clones have none."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip("no shared samples beside this clone")
    return path


@pytest.fixture
def fresh_postgres() -> Iterator[str]:
    """The address of an empty database on the real PostgreSQL."""
    with databases.fresh(postgres.url()) as address:
        yield address


@pytest.fixture
def fresh_valkey() -> str:
    """The address of an empty database on the real Valkey."""
    return databases.emptied(valkey.url())
