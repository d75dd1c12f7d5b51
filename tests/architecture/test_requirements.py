"""Every package is pinned with its hashes, and the tests run on what is served."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.architecture.tracked import ROOT

PIN = re.compile(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==([^ ;]+)(?: ;.+)?$")


def _pins(kind: str) -> dict[str, str]:
    """Versions by name; raises where a line is neither a pin nor a hash of one."""
    pins: dict[str, str] = {}
    hashed: set[str] = set()
    for line in (ROOT / "requirements" / f"{kind}.txt").read_text().splitlines():
        text = line.rstrip(" \\")
        if text.startswith("    --hash=sha256:"):
            hashed.add(list(pins)[-1])
            continue
        match = PIN.match(text)
        assert match is not None, text
        pins[match[1]] = match[2]
    assert hashed == set(pins)
    return pins


@pytest.mark.parametrize("kind", ["base", "dev"])
def test_requirements_are_pinned_with_hashes(kind):
    assert len(_pins(kind)) > 10


def test_dev_requirements_hold_the_served_versions():
    dev = _pins("dev")
    assert _pins("base").items() <= dev.items()


@pytest.mark.parametrize("kind", ["base", "dev"])
def test_declared_dependencies_are_pinned(kind):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = list(project["dependencies"])
    if kind == "dev":
        declared += project["optional-dependencies"]["dev"]
    names = {re.split(r"[\[<>=~! ]", text)[0].lower() for text in declared}
    assert names <= set(_pins(kind))
