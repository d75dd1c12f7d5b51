"""Leaks on the pages of a run and a test, and the recognisers of a project."""

from __future__ import annotations

import pytest

from projects.administration import read_settings
from projects.models import AuditEntry, Role
from results.models import Leak, Run
from tests.integration.test_leaks import GATED, NODEID, SAID, gate, leak, send
from tests.integration.test_leaks import acme as acme
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

PATTERN = r"(?P<test>\S+) left (?P<count>\d+) threads: (?P<items>.+)"
SAMPLE = f"Failed: {NODEID} left 2 threads: pool-1, pool-2"
NEW = {
    "name": "threads",
    "kind": "threads.alive",
    "pattern": PATTERN,
    "sample": SAMPLE,
}


@pytest.fixture
def admin(acme):
    return visitor(acme.project, Role.ADMIN)


def page_of(acme):
    return f"{base(acme.project)}/settings/recognisers"


def test_a_runs_page_says_what_leaked_and_why_it_is_red(acme, admin):
    send(acme, ("junit", GATED))
    text = visit(admin, f"{base(acme.project)}/runs/{Run.objects.get().pk}")
    assert "None of 2 tests failed; 1 leak by an enforced gate." in text
    assert "1 leak fails it: state was left behind and a gate is enforced" in text
    assert "Leaks state that a test left behind" in text
    assert SAID in text
    assert "3 items: shop.cart, shop.tax" in text
    assert "sys_modules.removed enforced" in text
    assert "read from the report, in teardown" in text


def test_reported_and_opted_out_leaks_are_told_apart(acme, admin):
    told = [
        leak(kind="env.set", enforced=False),
        leak(kind="cwd.changed", opted_out=True),
        leak(test=None, kind="tmp.left"),
    ]
    send(acme, ("junit", GATED), ("gate", gate(*told)))
    text = visit(admin, f"{base(acme.project)}/runs/{Run.objects.get().pk}")
    assert "env.set reported only 1 item: shop.cart told by ours" in text
    assert "cwd.changed opted out 1 item: shop.cart" in text
    assert "the whole session tmp.left" in text
    assert "3 leaks, 2 of them by an enforced gate." in text


def test_a_tests_page_lists_its_leaks(acme, admin):
    send(acme, ("junit", GATED))
    path = f"{base(acme.project)}/tests/{Leak.objects.get().test_id}"
    text = visit(admin, path)
    assert "What it leaks by the word of a gate" in text
    assert "sys_modules.removed" in text
    assert "Never failed in 1 run" in text


def test_pages_without_a_leak_do_not_speak_of_them(acme, admin):
    send(acme, ("junit", b'<testsuite><testcase name="a" classname="m"/></testsuite>'))
    run = visit(admin, f"{base(acme.project)}/runs/{Run.objects.get().pk}")
    assert "Leaks" not in run


def test_hostile_leaks_are_only_text(acme, admin):
    bad = "<script>alert(1)</script>{{ 7*7 }}"
    send(acme, ("gate", gate(leak(kind=bad, message=bad, recipe=bad, items=[bad]))))
    answer = admin.get(f"{base(acme.project)}/runs/{Run.objects.get().pk}")
    assert "<script>alert" not in answer.content.decode()
    assert bad in read(answer)


def test_a_recogniser_is_tried_before_it_is_saved(acme, admin):
    text = read(admin.post(page_of(acme), NEW | {"try": "1"}))
    assert "It recognises 1 leak in this sample." in text
    assert f"threads.alive: {NODEID}, 2 items ( pool-1, pool-2 )" in text
    assert "Save it" in text
    assert read_settings(acme.project).options.recognisers == ()


def test_a_saved_recogniser_is_used_and_audited(acme, admin):
    assert admin.post(page_of(acme), NEW | {"save": "1"}).status_code == 302
    failure = f'<failure message="{SAMPLE}"/>'
    name = NODEID.rpartition("::")[2]
    report = (
        f'<testsuite name="pytest"><testcase classname="tests.test_loader" '
        f'name="{name}">{failure}</testcase></testsuite>'
    )
    send(acme, ("junit", report.encode()))
    told = Leak.objects.get()
    assert (told.kind, told.gate, told.item_count) == ("threads.alive", "threads", 2)
    assert Run.objects.get().failed == 0
    entry = AuditEntry.objects.get(action="settings.changed")
    assert (entry.actor, entry.subject) == ("a-admin", "recognisers")
    assert PATTERN in visit(admin, page_of(acme))


def test_what_recognises_nothing_is_not_saved(acme, admin):
    sample = f"AssertionError: assert '{NODEID} left 2 threads: a'"
    text = read(admin.post(page_of(acme), NEW | {"save": "1", "sample": sample}))
    assert "It recognises nothing in this sample." in text
    assert read_settings(acme.project).options.recognisers == ()


def test_a_report_may_be_the_sample(acme, admin):
    text = read(admin.post(page_of(acme), NEW | {"try": "1", "sample": GATED.decode()}))
    assert "A built-in recogniser takes this sample; yours does not." in text
    cut = read(admin.post(page_of(acme), NEW | {"try": "1", "sample": "<testsuite"}))
    assert "The sample is no report that can be read" in cut


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("pattern", "(", "This is no regular expression"),
        ("pattern", "(?P<who>.)", "unknown group 'who'"),
        ("kind", "threads", "Use words with dots"),
        ("name", "sys_modules", "There is a recogniser sys_modules already."),
        ("sample", "", "This field is required."),
    ],
)
def test_what_is_wrong_is_said(acme, admin, field, value, words):
    answer = admin.post(page_of(acme), NEW | {"save": "1", field: value})
    assert answer.status_code == 200
    assert words in read(answer)
    assert read_settings(acme.project).options.recognisers == ()


def test_a_pattern_that_hangs_is_cut_off_in_the_preview(acme, admin):
    slow = {"pattern": r"(?:a|aa)+$", "sample": "a" * 5_000 + "b", "try": "1"}
    text = read(admin.post(page_of(acme), NEW | slow))
    assert "took longer than 50 ms on 1 text and was cut off" in text


def test_a_recogniser_is_removed(acme, admin):
    admin.post(page_of(acme), NEW | {"save": "1"})
    admin.post(f"{page_of(acme)}/threads/remove")
    assert read_settings(acme.project).options.recognisers == ()
    assert AuditEntry.objects.filter(action="settings.changed").count() == 2


def test_only_an_admin_sees_the_recognisers(acme):
    triager = visitor(acme.project, Role.TRIAGER)
    assert triager.get(page_of(acme)).status_code in (403, 404)
    assert triager.post(page_of(acme), NEW | {"save": "1"}).status_code in (403, 404)
