"""The browser is real, and its fixtures catch what they are for."""

from __future__ import annotations

import pytest


def test_sign_in_page_is_drawn_and_accessible(page, live_server, axe):
    page.goto(live_server.url + "/admin/login/")
    assert page.title()
    assert axe(page) == []


def test_axe_finds_a_fault(page, axe):
    page.set_content("<html lang=en><title>t</title><main><img src=data:,></main>")
    assert [fault.partition(":")[0] for fault in axe(page)] == ["image-alt"]


@pytest.mark.django_db(transaction=True)
def test_database_is_shared_with_the_live_server(page, live_server, django_user_model):
    django_user_model.objects.create_superuser("ada", password="lovelace")
    page.goto(live_server.url + "/admin/login/")
    page.fill("[name=username]", "ada")
    page.fill("[name=password]", "lovelace")
    page.keyboard.press("Enter")
    page.wait_for_url(live_server.url + "/admin/")
