"""A real Chromium on the live server; no page may speak to anybody else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.board import board, open_page
from tests.services import chromium

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import ConsoleMessage, Page, Request

__all__ = ["board", "open_page"]

AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
# Playwright's own loop runs in this thread, and Django then refuses its database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here; the pages need the data that other threads can see."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, Any],  # Any: Playwright's arguments
) -> dict[str, Any]:
    return {
        **browser_type_launch_args,
        "executable_path": chromium.find(),
        "args": list(chromium.FLAGS),
    }


@pytest.fixture
def page(page: Page, live_server: Any) -> Iterator[Page]:  # Any: pytest-django's
    """A page that fails its test on an error in it or a request to elsewhere."""
    faults: list[str] = []

    def watch_console(message: ConsoleMessage) -> None:
        # The admin names no icon, so the browser asks for one by itself.
        icon = message.location["url"].endswith("/favicon.ico")
        if message.type == "error" and not icon:
            faults.append(message.text)

    def watch_request(request: Request) -> None:
        if not request.url.startswith((live_server.url, "data:", "about:", "blob:")):
            faults.append(f"request to {request.url}")

    page.on("console", watch_console)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", watch_request)
    yield page
    assert faults == []


@pytest.fixture
def axe() -> Callable[[Page], list[str]]:
    """Check a page against WCAG 2.2 A and AA; return what it breaks, and where."""
    source = AXE.read_text()
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

    def check(page: Page) -> list[str]:
        # Not as an element: the pages' own policy forbids that, as it should.
        page.evaluate(f"{source};0")
        result = page.evaluate(
            "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", tags
        )
        return [
            f"{fault['id']}: {node['target']}"
            for fault in result["violations"]
            for node in fault["nodes"]
        ]

    return check
