"""The process that began the session: it merges, keeps the ratchet and reports.

Guarantees: the files of all workers are one when the session ends; an enforced leak of
a fixture makes the session fail; the baseline loses what was seen clean, never by a
run of only a part, and the summary says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from healthboard_client.plugin.baseline import fixed, write_baseline
from healthboard_client.plugin.merging import Told, clear, merge
from healthboard_client.plugin.options import SERVER, Enforce

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from healthboard_client.plugin.baseline import Entry
    from healthboard_client.plugin.options import Options

_MOST_LINES = 20
_OK = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
_SELECTING = ("keyword", "markexpr", "lf", "deselect", "stepwise")


class Conductor:
    """One session."""

    def __init__(
        self,
        config: pytest.Config,
        options: Options,
        known: frozenset[Entry] | None,
        note: str,
    ) -> None:
        self._config = config
        self._options = options
        self._known = known  # None: there is no list, and nothing is enforced
        self._notes = [note] if note else []
        self._crashes: list[tuple[str, str, str]] = []
        self._told = Told()

    def instruct(self, workerinput: dict[str, Any]) -> None:  # Any: xdist's own
        """Tell a worker where to write, and what is known already."""
        workerinput["healthboard_dir"] = str(self._options.directory)
        workerinput["healthboard_session"] = self._options.session
        known = self._known
        told = None if known is None else [list(entry) for entry in known]
        workerinput["healthboard_known"] = told

    def crashed(self, nodeid: str, report: Any) -> None:  # Any: with xdist's node
        self._crashes.append((report.node.gateway.id, nodeid, report.outcome))

    def pytest_report_header(self) -> str:
        gates = " ".join(self._options.gates) or "no gates"
        if self._options.gates:
            gates += f" ({self._options.enforce.value})"
        return f"healthboard: order trace, {gates}"

    def pytest_sessionstart(self) -> None:
        clear(self._options.directory)

    # Innermost of the wrappers: the workers have ended, the summary is still to come.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session
    ) -> Generator[None, object, object]:
        result = yield
        self._told = merge(
            self._options.directory,
            self._options.session,
            self._crashes,
            gates=self._options.gates,
        )
        if session.exitstatus in _OK and any(_fails_session(self._told)):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self._turn_ratchet(session)
        return result

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        leaks = self._told.leaks
        if not leaks and not self._notes:
            return
        terminalreporter.section("healthboard")
        for line in self._notes:
            terminalreporter.write_line(line)
        if leaks:
            terminalreporter.write_line(self._counted())
        shown = [leak for leak in leaks if not leak["kind"].endswith(".restored")]
        for leak in shown[:_MOST_LINES]:
            terminalreporter.write_line(f"{_state(leak)}: {leak['message']}")
        if len(shown) > _MOST_LINES:
            path = self._options.directory / "gate.json"
            terminalreporter.write_line(f"… and more: {path}")

    def _counted(self) -> str:
        states: dict[str, int] = {}
        for leak in self._told.leaks:
            states[_state(leak)] = states.get(_state(leak), 0) + 1
        counts = ", ".join(f"{number} {state}" for state, number in states.items())
        return f"{len(self._told.leaks)} told by the gates: {counts}"

    def _turn_ratchet(self, session: pytest.Session) -> None:
        """Let drop out what is fixed; take in what is accepted."""
        leaked = frozenset(
            (_who(leak), leak["kind"])
            for leak in self._told.leaks
            if not leak["opted_out"] and not leak["kind"].endswith(".restored")
        )
        path = self._options.root / self._options.baseline
        known = self._known or frozenset()
        if self._options.accept:
            write_baseline(path, known | leaked)
            new = len(leaked - known)
            self._notes.append(f"{new} leak(s) accepted into {self._options.baseline}")
            return
        if self._options.enforce is not Enforce.RATCHET:
            return
        gone = fixed(
            known,
            leaked=leaked,
            passed=_passed(self._told),
            gates=self._options.gates,
        )
        self._notes += [f"no longer leaks: {who} ({kind})" for who, kind in gone]
        if gone and self._is_part(session):
            self._notes.append("only a part of the suite ran: the baseline stays")
        elif gone and self._options.baseline != SERVER:
            write_baseline(path, known - set(gone))
            self._notes.append(
                f"{len(gone)} fixed leak(s) dropped out of {self._options.baseline}: "
                "commit it"
            )

    def _is_part(self, session: pytest.Session) -> bool:
        """A run of a selection may be clean only by its order."""
        option = self._config.option
        selected = any(getattr(option, name, None) for name in _SELECTING)
        ended = session.exitstatus in (*_OK, pytest.ExitCode.TESTS_FAILED)
        stopped = bool(session.shouldstop or session.shouldfail)
        by_name = any("::" in argument for argument in self._config.args)
        return selected or by_name or stopped or not ended


def _fails_session(told: Told) -> Iterator[bool]:
    for leak in told.leaks:
        yield leak["test"] is None and leak["enforced"] and not leak["opted_out"]


def _who(leak: dict[str, Any]) -> str:
    """The name in the baseline, as `Culprit.name` has it."""
    if leak["test"] is not None:
        return str(leak["test"])
    return f"{leak['file']}::{leak['fixture']} (fixture)"


def _state(leak: dict[str, Any]) -> str:
    if leak["opted_out"]:
        return "opted out"
    if leak["kind"].endswith(".restored"):
        return "clean-up"
    return "enforced" if leak["enforced"] else "reported"


def _passed(told: Told) -> frozenset[str]:
    """Tests that ran to their end; a test that broke early may have skipped its leak."""
    outcomes = {one["test"]: one["outcome"] for one in told.attempts}
    return frozenset(
        nodeid for nodeid, outcome in outcomes.items() if outcome == "passed"
    )
