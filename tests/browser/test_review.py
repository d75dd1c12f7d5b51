"""The weekly review in a real browser: decided by keys alone, news without a reload."""

from __future__ import annotations

import pytest

from findings.models import Finding
from review.agenda import current_week
from review.choices import Pick, choose
from review.models import Choice

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_a_row_is_decided_by_keys_alone(board, open_page):
    page = open_page("/review")
    page.keyboard.press("j")
    page.keyboard.press("d")
    focused = "document.activeElement.name"
    assert page.evaluate(focused) == "decision"
    page.keyboard.press("Tab")
    page.keyboard.type("ana")
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/*#*")
    assert page.get_by_text("Stored.").is_visible()
    assert page.get_by_text("assign; owner ana").first.is_visible()
    assert Choice.objects.get().owner == "ana"
    assert page.wrong == []


def test_what_others_decide_is_said_without_a_reload(board, open_page):
    page = open_page("/review")
    found = Finding.objects.filter(project=board.project, severity="P0").first()
    now = found.first_seen
    week = current_week(board.project, now=now)
    pick = Pick(owner="bob")
    choose(
        board.project, week, f"finding:{found.pk}", pick, version=0, by="bob", now=now
    )
    page.evaluate(
        "htmx.ajax('GET', document.getElementById('news').getAttribute('hx-get'), {target: '#news', swap: 'outerHTML'})"
    )
    said = page.get_by_text(f"bob: assign for finding:{found.pk}")
    said.wait_for()
    assert page.wrong == []
