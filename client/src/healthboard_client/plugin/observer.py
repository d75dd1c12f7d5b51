"""The process that runs tests: it writes their order, and what each leaves behind.

Guarantees: a test's place is taken when its setup begins, and each attempt has its
own; a leak is written before its failure is raised; where a teardown fails by itself,
that failure stays; a rerun does not wash an enforced leak away.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from healthboard_client.plugin.exemptions import Exemptions
from healthboard_client.plugin.leaks import Culprit, Leak, clipped, describe
from healthboard_client.plugin.options import Enforce, Options, build_gates
from healthboard_client.plugin.records import Records
from healthboard_client.plugin.trace import Attempt
from healthboard_client.plugin.watch import RESTORED, Watch

if TYPE_CHECKING:
    from collections.abc import Generator

    from healthboard_client.plugin.baseline import Entry
    from healthboard_client.plugin.watch import Found, Hold

_MAIN = "main"
# Its tests are processes of their own: numbers that no process of the system has.
_FORKED = 20


class Observer:
    """One process of a session."""

    def __init__(
        self, config: pytest.Config, options: Options, known: frozenset[Entry] | None
    ) -> None:
        shared: dict[str, object] = getattr(config, "workerinput", {})
        self._worker = str(shared.get("workerid", _MAIN))
        self._options = options
        self._known = known
        self._records = Records(options, self._worker)
        self._watch = Watch(build_gates(config, options))
        self._exemptions = Exemptions()
        self._attempt: Attempt | None = None
        self._position = 0
        self._forked = 0
        self._raised: dict[str, list[Leak]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._exemptions.read(items)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        self._write_attempt()
        if os.getpid() != self._records.pid:  # a child that was forked for this test
            self._records = Records(self._options, self._worker)
        self._records.started()
        self._attempt = Attempt(
            item.nodeid,
            pid=self._records.pid,
            position=self._position,
            start=time.time(),
        )
        self._position += 1
        self._watch.begin()
        self._exemptions.check(item)
        yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        try:
            yield
        except BaseException as error:
            text = self._judge(item)
            if text and hasattr(error, "add_note"):  # from Python 3.11
                error.add_note(text)
            raise
        text = self._judge(item)
        if text:
            pytest.fail(text, pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        hold = self._watch.hold()
        fixturedef.addfinalizer(lambda: self._fixture_ended(hold, fixturedef, request))
        try:
            return (yield)
        finally:
            hold.set_up()
            # Finalizers run in reverse: this one before the fixture's own teardown.
            fixturedef.addfinalizer(hold.finishing)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        attempt = self._attempt
        if attempt is None or attempt.nodeid != report.nodeid:
            attempt = self._begin_forked(report)
            if attempt is None:
                return
        attempt.add(report)

    def pytest_runtest_logfinish(self) -> None:
        self._write_attempt()

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        try:
            return (yield)
        finally:
            self._write_attempt()
            self._records.close()

    def _begin_forked(self, report: pytest.TestReport) -> Attempt | None:
        """A test whose setup was in another process: it shares its order with none."""
        if hasattr(report, "node"):  # the controller hears of its workers' tests
            return None
        self._write_attempt()
        self._forked += 1
        self._attempt = Attempt(
            report.nodeid,
            pid=(self._records.pid << _FORKED) + self._forked,
            position=0,
            start=time.time() - report.duration,
        )
        return self._attempt

    def _write_attempt(self) -> None:
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            self._records.write_attempt(attempt)

    def _judge(self, item: pytest.Item) -> str:
        """Write what a test left; return the text of its failure, if it is one."""
        found = self._watch.end()
        if not found and item.nodeid not in self._raised:
            return ""
        culprit = Culprit(item.nodeid)
        leaks = [self._leak(one, culprit, item) for one in found]
        kinds = {leak.kind for leak in leaks}
        # What an attempt left is no change for the next one, and yet its leak.
        leaks += [
            replace(leak, position=self._place())
            for leak in self._raised.pop(item.nodeid, [])
            if leak.kind not in kinds
        ]
        for leak in leaks:
            self._records.write_leak(leak)
        enforced = [leak for leak in leaks if leak.enforced]
        if enforced:
            self._raised[item.nodeid] = enforced
        return "\n\n".join(leak.text for leak in enforced)

    def _fixture_ended(
        self,
        hold: Hold,
        fixturedef: pytest.FixtureDef[object],
        request: pytest.FixtureRequest,
    ) -> None:
        found = hold.finished()
        if not found:
            return
        node = request.node
        culprit = fixture_culprit(fixturedef, node, self._options)
        for one in found:
            self._records.write_leak(self._leak(one, culprit, node))

    def _leak(self, found: Found, culprit: Culprit, node: pytest.Item) -> Leak:
        message, recipe = describe(found, culprit)
        kind = f"{found.gate.family}.{found.change}"
        reason = None
        if found.change != RESTORED:
            reason = self._exemptions.reason(node, found.gate.name, kind)
        return Leak(
            culprit=culprit,
            gate=found.gate.name,
            kind=kind,
            items=clipped(found.items),
            item_count=len(found.items),
            message=message,
            recipe=recipe,
            worker=self._worker,
            position=self._place(),
            enforced=reason is None and self._enforces(found, culprit, kind),
            opted_out=reason is not None,
            reason=reason or "",
        )

    def _place(self) -> int | None:
        return self._attempt.position if self._attempt else None

    def _enforces(self, found: Found, culprit: Culprit, kind: str) -> bool:
        # No test of this process follows the end of a session's fixture.
        if not found.enforceable or culprit.scope == "session":
            return False
        enforce = self._options.enforce
        if enforce is Enforce.RATCHET and not self._options.accept:
            known = self._known
            return known is not None and (culprit.name, kind) not in known
        return enforce is Enforce.ERROR and not self._options.accept


def fixture_culprit(
    fixturedef: pytest.FixtureDef[object], node: pytest.Item, options: Options
) -> Culprit:
    """Name a fixture, the file it is written in, and where it was used."""
    code = getattr(fixturedef.func, "__code__", None)
    file = str(getattr(code, "co_filename", ""))
    if file.startswith(str(options.root) + os.sep):
        file = os.path.relpath(file, options.root).replace(os.sep, "/")
    elif not file or "_pytest" in file:  # setup_module and its like: wrapped by pytest
        file = node.nodeid.partition("::")[0]
    return Culprit(
        None,
        fixture=fixturedef.argname,
        scope=fixturedef.scope,
        file=file,
        used_in=node.nodeid if node.nodeid != file else "",
    )
