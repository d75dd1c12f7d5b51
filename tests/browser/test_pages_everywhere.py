"""Every page in a real browser: accessible, quiet, narrow, dark, by keys alone."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def pages_of(board):
    """Every page, by its path."""
    return [
        board.url + "/",
        board.url + "/new",
        board.url + "/search?q=shop",
        board.url + "/account/password",
        *(
            board.base + path
            for path in (
                "/",
                "/?window=7",
                "/runs",
                "/runs?branch=none",
                f"/runs/{board.red}",
                f"/runs/{board.damaged}",
                f"/runs/{board.red}/results",
                f"/runs/{board.red}/compare",
                f"/failures/{board.failure}",
                "/tests",
                "/tests?sort=failed_runs",
                f"/tests/{board.test}",
                f"/tests/{board.pending}",
                "/flaky",
                "/flaky?class=import",
                "/leakers",
                "/leakers?state=any",
                "/leakers?state=fixed",
                f"/leakers/{board.leaker}",
                "/leak-map",
                f"/leak-map?leaker={board.leaker}&victim={board.test}",
                "/leak-map?state=suspected",
                "/pulls",
                "/pulls?state=merged&verdict=yours",
                "/pulls/538",
                "/dependencies",
                "/dependencies?show=all",
                "/findings",
                "/findings?severity=P3&owner=nobody-of-that-name",
                f"/findings/{board.finding}",
                "/effects",
                f"/effects?run={board.green}",
                "/review",
                "/review/2026-W10",
                "/uploads",
                "/uploads/health",
                f"/uploads/{board.upload}",
                "/search?q=test",
                "/settings",
                "/settings/tokens",
                "/settings/secret",
                "/settings/routes",
                f"/settings/routes/{board.route}",
                f"/uploads/{board.alone}",
                "/settings/owners",
                "/settings/rules",
                "/settings/members",
                "/settings/audit",
            )
        ),
    ]


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (360, "dark")], ids=["wide", "narrow"]
)
def test_every_page_is_accessible_quiet_and_fits(board, open_page, axe, width, scheme):
    size = {"width": width, "height": 900}
    page = open_page(viewport=size, color_scheme=scheme)
    for url in pages_of(board):
        page.goto(url)
        page.wait_for_load_state("networkidle")
        assert axe(page) == [], url
        assert page.evaluate("document.documentElement.scrollWidth") <= width, url
        assert page.wrong == [], url
        assert page.locator("h1").count() == 1, url


def test_pages_for_strangers_are_accessible(board, open_page, axe):
    page = open_page(board.url + "/sign-in", signed_in=False)
    assert axe(page) == []
    for path in ("/", "/p/acme/nothing/"):
        page.goto(board.url + path)
        assert axe(page) == [], path


def test_the_keyboard_alone_reaches_everything(board, open_page):
    page = open_page(f"/runs/{board.red}")
    wanted = page.evaluate(
        """() => [...document.querySelectorAll(
            'a[href], button, input:not([type=hidden]), select, summary, [tabindex]')]
          .filter(e => e.tabIndex >= 0 && e.checkVisibility()).length"""
    )
    seen = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                """() => {
                  const e = document.activeElement, s = getComputedStyle(e);
                  e.dataset.reached = 'yes';
                  return [e.textContent.trim(), s.outlineStyle !== 'none'];
                }"""
            )
        )
    assert seen[0][0] == "Skip to the content"
    assert page.locator("[data-reached]").count() == wanted
    assert [text for text, outlined in seen if not outlined] == []


def test_keys_walk_and_open(board, open_page):
    page = open_page("/runs")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{board.base}/runs/{board.red}")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").is_hidden()
    page.keyboard.press("/")
    page.keyboard.type("session?")
    assert page.get_by_role("dialog").is_hidden()
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{board.base}/search?q=session")
    assert page.get_by_role("link", name="test_session").count() == 1
    assert page.wrong == []
