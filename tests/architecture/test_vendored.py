"""Files of others that we serve are the ones that were checked."""

from __future__ import annotations

import hashlib
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[2] / "static" / "vendor"


def test_each_vendored_file_has_its_recorded_digest():
    lines = (VENDOR / "SHA256SUMS").read_text().splitlines()
    recorded = {name: digest for digest, name in (line.split() for line in lines)}
    ours = {"SHA256SUMS", "README.md"}
    assert set(recorded) == {path.name for path in VENDOR.iterdir()} - ours
    for name, digest in recorded.items():
        content = (VENDOR / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest, name


def test_each_vendored_script_has_its_licence_and_is_named():
    scripts = list(VENDOR.glob("*.js"))
    assert scripts
    readme = (VENDOR / "README.md").read_text()
    for script in scripts:
        assert script.name in readme
        licence = VENDOR / script.name.replace(".min.js", ".LICENSE.txt")
        assert "MIT" in licence.read_text()
