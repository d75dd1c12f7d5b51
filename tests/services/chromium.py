"""A real Chromium for the tests: found where it is installed, or installed.

Run as a module it installs one if none is found: by apt-get as root, else by
Playwright's own download. It fails only where everything must be there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.services import session

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# A closed network refuses a browser's own talk, many connections at a time.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find() -> str | None:
    """The path of a Chromium; `TEST_CHROMIUM` first, then the path, then Playwright."""
    if given := os.environ.get("TEST_CHROMIUM"):
        return given
    named = (shutil.which(name) for name in NAMES)
    return next((path for path in named if path), None) or _from_playwright()


def _from_playwright() -> str | None:
    home = Path.home()
    for cache in (home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"):
        for pattern in ("chromium-*/chrome-*/chrome", "chromium-*/*/*/*/Chromium"):
            for path in sorted(cache.glob(pattern), reverse=True):
                return str(path)
    return None


def install() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        get = ["apt-get", "-y", "-q", "--no-install-recommends"]
        subprocess.run(["apt-get", "-q", "update"], env=environment, check=False)
        subprocess.run(
            [*get, "install", "chromium", "fonts-dejavu-core"],
            env=environment,
            check=False,
        )
    if find() is None:
        subprocess.run(
            [sys.executable, "-m", "playwright", "install", "chromium"], check=False
        )


def main() -> int:
    if find() is None:
        install()
    return 1 if find() is None and session.strict() else 0


if __name__ == "__main__":
    sys.exit(main())
