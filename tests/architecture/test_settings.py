"""Every setting is documented, and every documented setting is read."""

from __future__ import annotations

import re

from tests.architecture.tracked import ROOT, server_sources

# Names that our own processes pass to each other; nobody sets them.
INTERNAL = {"DJANGO_SETTINGS_MODULE", "HEALTHBOARD_SOCKET", "HEALTHBOARD_LIFELINE"}
READS = re.compile(
    r"""(?:os\.environ\.get\(|os\.environ\[|getenv\(|_(?:bool|int|list)\()\s*["']([A-Z_]+)["']"""
)


def _read_in_code() -> set[str]:
    paths = [*server_sources(), ROOT / "dev.py"]
    found = {match for path in paths for match in READS.findall(path.read_text())}
    return found - INTERNAL


def _documented() -> set[str]:
    text = (ROOT / "docs" / "settings.md").read_text()
    return set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))


def test_settings_are_documented_and_nothing_else_is():
    assert _read_in_code() == _documented()


def test_compose_sets_only_known_settings():
    text = (ROOT / "docker-compose.yml").read_text()
    anchor = re.search(r"^  environment:\n((?:    .+\n)+)", text, re.MULTILINE)
    assert anchor is not None
    names = set(re.findall(r"^    ([A-Z_]+):", anchor[1], re.MULTILINE))
    assert names
    assert names <= _documented()


def test_only_the_settings_read_the_environment():
    """One place says what can be set; processes only pass things on."""
    allowed = {"settings.py", "celery.py", "web.py", "worker.py", "lifeline.py"}
    allowed |= {"wsgi.py", "serve.py", "supervisor.py"}
    reading = {
        path.name for path in server_sources() if "os.environ" in path.read_text()
    }
    assert reading <= allowed
