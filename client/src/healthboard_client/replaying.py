"""A pytest plugin for one experiment: the tests of a list, in its order, told one by one.

`-p healthboard_client.replaying` with HEALTHBOARD_REPLAY naming a JSON file
`{"tests": [...], "told": path}`. Guarantees: nothing but the list runs, in its order and
in one process, whatever other plugins and `addopts` say; each line is on the disk as
soon as it is known, so that a crash shows how far it came. Importing it does nothing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from healthboard_client.replaying_names import VARIABLE


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Take back what addopts may say: several processes, reruns, an early end."""
    args.append("--maxfail=0")
    manager = early_config.pluginmanager
    if manager.hasplugin("xdist"):
        args.append("-n0")
    if manager.hasplugin("rerunfailures"):
        args.append("--reruns=0")


def pytest_configure(config: pytest.Config) -> None:
    given = os.environ.get(VARIABLE)
    if given:
        config.pluginmanager.register(Replay(json.loads(Path(given).read_text())))


class Replay:
    """Keeps the list's tests, and writes what became of each."""

    def __init__(self, given: dict[str, Any]) -> None:  # Any: JSON of ours
        self.place = {nodeid: n for n, nodeid in enumerate(given["tests"])}
        self.told = Path(given["told"])

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Last, so that nobody sorts them again."""
        mine = {item.nodeid: item for item in items if item.nodeid in self.place}
        dropped = [item for item in items if mine.get(item.nodeid) is not item]
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        items[:] = sorted(mine.values(), key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._tell(nodeid, "start", "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tell(report.nodeid, str(report.when), report.outcome)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._tell(nodeid, "finish", "")

    def _tell(self, nodeid: str, phase: str, outcome: str) -> None:
        with self.told.open("a", encoding="utf-8") as file:
            file.write(json.dumps([nodeid, phase, outcome]) + "\n")
