"""What the pages of leakers do in a browser, and all of it without JS."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_a_cell_of_the_map_opens_its_evidence(board, open_page):
    page = open_page("/leak-map")
    cell = page.locator("[data-plot=leak-map] .hm image, [data-plot=leak-map] .hm")
    expect(cell.first).to_be_attached()
    expect(page.get_by_role("heading", name="Evidence")).to_be_hidden()
    box = page.locator("[data-plot=leak-map] .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**leaker=*")
    expect(page.get_by_role("heading", name="Evidence")).to_be_visible()
    expect(page.get_by_text("failed in 41 of 43 runs after it").first).to_be_visible()
    assert page.wrong == []


def test_without_javascript_the_map_is_a_table_and_a_decision_is_taken(
    board, open_page
):
    page = open_page("/leak-map", java_script_enabled=False)
    table = page.get_by_role("region", name="Pairs of leaker and victim")
    expect(table).to_be_visible()
    table.get_by_role("link", name="test_session").click()
    expect(page.get_by_role("heading", name="Evidence")).to_be_visible()
    page.goto(f"{board.base}/leakers/{board.leaker}")
    page.get_by_label("State").select_option("fixed")
    page.get_by_label("Commit that fixed it").fill("1677b9d")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("Stored.")).to_be_visible()
    expect(page.get_by_text("commit 1677b9d")).to_be_visible()


def test_a_filter_of_leakers_changes_the_list_and_the_address(board, open_page):
    page = open_page("/leakers")
    expect(page.get_by_role("link", name="test_total")).to_be_visible()
    page.get_by_label("State").select_option("muted")
    expect(page.get_by_role("link", name="test_logout")).to_be_visible()
    expect(page.get_by_role("link", name="test_total")).to_be_hidden()
    assert "state=muted" in page.url
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="Leakers").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{board.base}/leakers/*")
    assert page.wrong == []


def test_the_keys_of_the_findings_are_named_where_they_work(board, open_page):
    page = open_page("/findings")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Choose the finding that one is on")).to_be_visible()
    expect(dialog.get_by_text("Go to the decision on the chosen ones")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto(f"{board.base}/runs")
    page.keyboard.press("?")
    expect(dialog.get_by_text("Open the row")).to_be_visible()
    expect(dialog.get_by_text("Choose the finding")).to_be_hidden()
