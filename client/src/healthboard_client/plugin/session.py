"""The hooks of a session in which the plugin is on.

Guarantees: the process that runs tests writes their order and watches their state;
the one that began the session (with xdist the controller, which runs none) merges the
files and says how it went. A gate's failure is one of the leaking test's teardown; the
leak of a fixture that outlives tests fails the session, and no test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from healthboard_client.plugin.baseline import read_baseline
from healthboard_client.plugin.conductor import Conductor
from healthboard_client.plugin.observer import Observer
from healthboard_client.plugin.options import SERVER, Enforce, Options, read_options

if TYPE_CHECKING:
    from healthboard_client.plugin.baseline import Entry

_KNOWN_LEAKERS = "healthboard_client.plugin.known_leakers"


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("collectonly"):
        return
    options = read_options(config)
    shared: dict[str, object] | None = getattr(config, "workerinput", None)
    if shared is None:
        known, note = _known(config, options)
        conductor = Conductor(config, options, known, note)
        config.pluginmanager.register(conductor, "healthboard-conductor")
        if config.pluginmanager.hasplugin("xdist"):
            config.pluginmanager.register(_Workers(conductor), "healthboard-workers")
    else:
        told: Any = shared.get("healthboard_known", [])
        known = told if told is None else frozenset(map(tuple, told))
    observer = Observer(config, options, known)
    config.pluginmanager.register(observer, "healthboard-observer")


def _known(
    config: pytest.Config, options: Options
) -> tuple[frozenset[Entry] | None, str]:
    """The leaks that the ratchet lets pass, and why there is no list, if so."""
    if options.enforce is not Enforce.RATCHET and not options.accept:
        return frozenset(), ""
    if options.baseline != SERVER:
        return read_baseline(options.root / options.baseline), ""
    # Loaded as a plugin, for it speaks HTTP, which nobody else needs to import.
    config.pluginmanager.import_plugin(_KNOWN_LEAKERS)
    known_leakers: Any = config.pluginmanager.get_plugin(_KNOWN_LEAKERS)
    known, note = known_leakers.ask()
    return known, note


class _Workers:
    """What only xdist calls; pytest refuses hooks that it does not know."""

    def __init__(self, conductor: Conductor) -> None:
        self._conductor = conductor

    @pytest.hookimpl
    def pytest_configure_node(self, node: object) -> None:
        self._conductor.instruct(node.workerinput)  # type: ignore[attr-defined]

    @pytest.hookimpl(wrapper=True)
    def pytest_handlecrashitem(self, crashitem: str, report: object) -> object:
        result = yield
        self._conductor.crashed(crashitem, report)
        return result
