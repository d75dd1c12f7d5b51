"""The pytest plugin: order trace and gates; nothing of it runs until it is asked for.

Guarantees: without `--healthboard` or `healthboard = true` the suite runs as if this
was not installed: what is imported here is what pytest has imported already. The
marker, the options and the fixture `fresh_import` are there in any case, so that a
suite that uses them also runs with the plugin off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthboard_client.plugin.fresh import fresh_import_fixture

if TYPE_CHECKING:
    import pytest

__all__ = ["fresh_import_fixture", "pytest_addoption", "pytest_configure"]

_ACTIVE = "healthboard_client.plugin.session"
_INI = (
    ("healthboard_gates", "args", "gates to run around each test: sys_modules env …"),
    ("healthboard_watch", "args", "modules to watch: agent watches agent.* as well"),
    ("healthboard_exclude", "args", "modules not to watch, by the same rule"),
    ("healthboard_files", "args", "globs and directories in which nothing may be left"),
    ("healthboard_control_planes", "args", "directories of real work, likewise"),
    ("healthboard_enforce", "string", "error, report (default) or ratchet"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("healthboard", "order trace and gates of Healthboard")
    group.addoption(
        "--healthboard",
        action="store_true",
        dest="healthboard",
        help="write the order of the tests and watch what they leave behind",
    )
    group.addoption(
        "--healthboard-dir",
        default=".healthboard",
        metavar="DIR",
        help="where order.jsonl and gate.json go (default: .healthboard)",
    )
    group.addoption(
        "--healthboard-accept",
        action="store_true",
        dest="healthboard_accept",
        help="write every leak of this run into the baseline of the ratchet",
    )
    parser.addini("healthboard", "switch the plugin on", type="bool", default=False)
    parser.addini(
        "healthboard_baseline",
        "file of the leaks that the ratchet lets pass, or the word `server`",
        default="healthboard-baseline.json",
    )
    for name, kind, text in _INI:
        parser.addini(name, text, type=kind)  # type: ignore[arg-type]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "allow_leak(*gates, reason): this test leaks on purpose what these gates watch",
    )
    if config.getoption("healthboard") or config.getini("healthboard"):
        config.pluginmanager.import_plugin(_ACTIVE)
