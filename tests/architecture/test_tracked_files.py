"""What is committed works anywhere and is what it says."""

from __future__ import annotations

import ast
import hashlib
import re

import pytest

from tests.architecture.tracked import ROOT, files, name

# Written in pieces, so that this file does not find itself.
HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("python" + "hosted", "org"),
        ("registry", "npmjs"),
        ("deb", "debian", "org"),
    )
)
PLACES = re.compile(r"/wo" r"rk/(?:main|shared|\.)|/ro" r"ot/\.")
VENDORED = sorted({path.parent for path in files() if "vendor" in path.parts})


def _texts() -> list[tuple[str, str]]:
    pairs = []
    for path in files():
        if "vendor" in path.parts:
            continue
        try:
            pairs.append((name(path), path.read_text()))
        except UnicodeDecodeError:
            continue
    return pairs


def test_no_file_names_a_package_registry():
    found = [n for n, text in _texts() if any(host in text for host in HOSTS)]
    assert found == []


def test_no_file_names_a_place_of_one_machine():
    found = [n for n, text in _texts() if PLACES.search(text)]
    assert found == []


@pytest.mark.parametrize("folder", VENDORED, ids=name)
def test_vendored_files_are_the_recorded_ones(folder):
    recorded = dict(
        reversed(line.split(maxsplit=1))
        for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    present = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name not in ("SHA256SUMS", "README.md")
    }
    assert present == recorded


def test_vendored_folders_name_their_licences():
    assert VENDORED
    for folder in VENDORED:
        assert "icence" in (folder / "README.md").read_text(), folder


def test_dev_script_parses_on_old_pythons():
    """Only then can it say in one sentence that the Python is too old."""
    ast.parse((ROOT / "dev.py").read_text(), feature_version=(3, 6))


def test_scripts_are_executable():
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
