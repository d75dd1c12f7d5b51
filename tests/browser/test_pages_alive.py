"""What pages do in a browser: plots, partial updates, copying, and all without JS."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_plots_are_drawn_and_follow_the_colour_scheme(board, open_page):
    page = open_page("/", color_scheme="light")
    line = page.locator("[data-plot=health] path.js-line").first
    expect(line).to_be_attached()
    expect(page.locator("[data-plot=suite-duration] .main-svg").first).to_be_visible()
    table = page.get_by_role("region", name="Failing tests and pass rate a day")
    expect(table).to_be_hidden()
    light = line.evaluate("e => getComputedStyle(e).stroke")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        """light => getComputedStyle(document.querySelector(
             '[data-plot=health] path.js-line')).stroke !== light""",
        arg=light,
    )
    assert page.wrong == []


def test_a_dot_of_a_plot_opens_its_run(board, open_page):
    page = open_page(f"/tests/{board.test}")
    expect(page.locator("[data-plot=durations] .points path").first).to_be_visible()
    dot = page.locator("[data-plot=durations] .points path").last
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(f"{board.base}/runs/*")
    assert page.wrong == []


def test_without_javascript_everything_is_there(board, open_page):
    page = open_page("/", java_script_enabled=False)
    table = page.get_by_role("region", name="Failing tests and pass rate a day")
    expect(table).to_be_visible()
    expect(page.locator(".plot").first).to_be_hidden()
    expect(page.locator("button.copy").first).to_be_hidden()
    page.goto(f"{board.base}/runs")
    page.get_by_label("Outcome").select_option("damaged")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("link", name="ci-2")).to_be_visible()
    expect(page.get_by_role("link", name="ci-1")).to_be_hidden()
    page.get_by_role("link", name="ci-2").click()
    page.get_by_text("Exclude from statistics").click()
    page.get_by_label("Reason").fill("cut off")
    page.get_by_role("button", name="Exclude this run").click()
    expect(page.get_by_text("does not count in statistics")).to_be_visible()


def test_a_filter_changes_the_list_and_the_address(board, open_page):
    page = open_page("/runs")
    page.get_by_label("Outcome").select_option("failed")
    expect(page.get_by_role("link", name="ci-1")).to_be_hidden()
    expect(page.get_by_role("link", name="ci-4")).to_be_visible()
    assert "outcome=failed" in page.url
    shared = page.url
    page.get_by_role("link", name="ci-4").click()
    page.wait_for_url(f"{board.base}/runs/{board.red}")
    page.go_back()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.get_by_role("link", name="ci-1")).to_be_hidden()
    page.go_back()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.get_by_role("link", name="ci-1")).to_be_visible()
    page.goto(shared)
    expect(page.get_by_label("Outcome")).to_have_value("failed")
    assert page.wrong == []


def test_typing_searches_tests_while_one_types(board, open_page):
    page = open_page("/tests")
    page.get_by_label("Test", exact=True).press_sequentially("sess")
    expect(page.get_by_role("link", name="test_total")).to_be_hidden()
    expect(page.get_by_role("link", name="test_session")).to_be_visible()
    assert page.url.startswith(f"{board.base}/tests?q=sess")
    assert page.wrong == []


def test_a_failures_text_is_fetched_when_it_is_opened(board, open_page):
    page = open_page(f"/runs/{board.red}")
    page.get_by_text("What it said").click()
    expect(page.get_by_text("tests/test_login.py:12: AssertionError")).to_be_visible()
    assert page.wrong == []


def test_an_id_is_copied_whole(board, open_page):
    page = open_page(
        f"/tests/{board.test}", permissions=["clipboard-read", "clipboard-write"]
    )
    page.get_by_role("button", name="Copy the test's id").first.click()
    expect(page.get_by_role("status").filter(has_text="Copied.")).to_be_attached()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == board.project.tests.get(pk=board.test).nodeid


def test_times_are_in_the_viewers_zone(board, open_page):
    page = open_page("/runs", timezone_id="Asia/Tokyo", locale="en-GB")
    assert "GMT+9" in page.locator("td time").first.get_attribute("title")


def test_a_new_token_is_shown_once(board, open_page):
    page = open_page("/settings/tokens")
    page.get_by_label("What is it for?").fill("CI")
    page.get_by_role("button", name="Make it").click()
    secret = page.locator(".secret code")
    assert secret.inner_text().startswith("hb_")
    page.goto(f"{board.base}/settings/tokens")
    expect(secret).to_have_count(0)
    page.get_by_text("Revoke…").first.click()
    page.get_by_role("button", name="Revoke CI").click()
    expect(page.get_by_text("The token CI is revoked.")).to_be_visible()
    assert page.wrong == []
