"""Takes the pictures of docs/pictures from the demo: `python -m tests.browser.pictures`.

It serves a fresh demo, signs in with the password that the first start shows, and goes
where the story is. With `--url` and `--password` it uses a demo that runs already.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from healthboard.demo.suite import SLUG
from tests.services import chromium
from tests.services.serving import ROOT, start, wait_for_end
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1200, "height": 860}
SEEDING_S = 300
VICTIM = "test_registry_finds_a_tool_by_alias"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a demo that runs already")
    parser.add_argument("--password", help="of its admin")
    given = parser.parse_args(arguments)
    if given.url:
        take_all(given.url, given.password)
        return
    with fresh_demo() as (url, password):
        take_all(url, password)


@contextmanager
def fresh_demo() -> Iterator[tuple[str, str]]:
    """Serve a demo of its own; yield its address and its first password."""
    with tempfile.TemporaryDirectory() as directory:
        server = start(Path(directory) / "data", "--port", "0")
        try:
            address = server.address
            shown = until(
                lambda: re.search(r"Sign in as admin with (\S+)", server.text),
                what="the password is shown",
            )
            until(
                lambda: "part=demo ended code=0" in server.text,
                what=lambda: f"the demo is there: {server.text[-2_000:]}",
                seconds=SEEDING_S,
            )
            yield address, shown[1]
        finally:
            server.stop()
            wait_for_end(server)


def take_all(url: str, password: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.FLAGS)
        )
        page = browser.new_page(
            base_url=url, viewport=SIZE, color_scheme="light", reduced_motion="reduce"
        )
        sign_in(page, password)
        home = f"/p/{SLUG}/"
        take(page, home, "project")
        take(page, f"{home}runs", "runs")
        take(page, worst_run(page, home), "run")
        take(page, a_victim(page, home), "test")
        take(page, f"{home}uploads", "uploads")
        browser.close()


def sign_in(page: Page, password: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").or_(page.get_by_label("Username")).fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def worst_run(page: Page, home: str) -> str:
    """The newest red run of the default branch."""
    page.goto(f"{home}runs?branch=main&outcome=failed")
    return page.locator("a[data-row]").first.get_attribute("href") or ""


def a_victim(page: Page, home: str) -> str:
    page.goto(f"{home}tests?q={VICTIM}")
    return page.locator("a[data-row]").first.get_attribute("href") or ""


def take(page: Page, path: str, name: str) -> None:
    page.goto(path)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    main(sys.argv[1:])
