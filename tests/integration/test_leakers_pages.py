"""The pages of leakers and unstable tests, from uploads to what a person reads."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from healthboard.pipeline import drain_all
from leaks.models import Leaker, LeakerDecision, Pair
from projects.creation import Created, create_project
from projects.models import AuditEntry, Role
from results.models import Run
from tests import leaking_suite as suite
from tests.leaking import make_decision, make_leaker, make_pair, make_verdict
from tests.sending import Upload, bearer, post
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=5)
LEAKER = suite.nodeid(suite.LEAKER)
VICTIM = suite.nodeid(suite.VICTIMS[0])
GATED = {
    "schema": "healthboard.gate/1",
    "gate": "ours",
    "leaks": [
        {
            "test": LEAKER,
            "kind": "sys_modules.removed",
            "items": ["shop.cart", "shop.tax"],
            "recipe": "use fresh_import",
        }
    ],
}


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="a test")


@pytest.fixture
def viewer(acme):
    return visitor(acme.project, Role.VIEWER)


@pytest.fixture
def triager(acme):
    return visitor(acme.project, Role.TRIAGER)


@pytest.fixture
def shuffled(acme) -> Created:
    """Forty shuffled runs of the suite that leaks, and a gate that names the leaker."""
    suite.send_all(acme, suite.story(), start=START)
    context = {"run": "gated", "branch": "fix", "commit": "d" * 40, "pr": 7}
    raw = json.dumps(GATED).encode()
    answer = post(Upload(context, [("gate", "gate.json", raw)]), bearer(acme.token))
    assert answer.status_code == 202
    drain_all()
    return acme


def page(client, acme, below="", **query):
    return visit(client, base(acme.project) + below, **query)


def of_test(acme, nodeid):
    return f"/tests/{acme.project.tests.get(nodeid=nodeid).pk}"


def test_the_list_says_what_leaks_and_what_it_costs(shuffled, viewer):
    text = page(viewer, shuffled, "/leakers")
    assert "1 leaker is open: it was charged" in text
    assert LEAKER.rpartition("::")[2] in text
    assert "sys_modules.removed, by a gate and its runs" in text


def test_the_page_of_a_leaker_tells_its_whole_story(shuffled, viewer):
    leaker = Leaker.objects.get()
    text = page(viewer, shuffled, f"/leakers/{leaker.pk}")
    assert "It leaves sys_modules.removed behind and breaks 3 tests" in text
    failed = leaker.test.harms.get(victim__nodeid=VICTIM)
    after = failed.failed_after + failed.passed_after
    assert (failed.failed_without, failed.passed_after) == (0, 0)
    # Passes since the last judgement that changed anything may be missing: a few.
    assert 0.7 * (40 - after) <= failed.passed_without <= 40 - after
    without = f"in 0 of {failed.passed_without} without"
    words = f"failed in {after} of {after} runs after it, {without}"
    assert words in text
    assert "Confirmed: it holds more than 99.9 % of the belief." in text
    assert f"pytest -p no:randomly -p no:random_order {LEAKER} " in text
    assert "2 items: shop.cart, shop.tax" in text
    assert "use fresh_import" in text
    assert "Never delete from sys.modules" in text
    assert "A red run counts once, shared among its causes" in text
    assert text.index("first seen at commit") < text.index("first victim")
    assert "Decide" not in text


def test_a_victim_says_who_breaks_it_and_who_ran_before(shuffled, viewer):
    text = page(viewer, shuffled, of_test(shuffled, VICTIM))
    assert "Victim: it fails when a leaker ran before it in its process." in text
    assert "What breaks it" in text
    assert "Its page as a leaker" in text
    assert "What would prove or clear it" in text
    assert "Who ran before it the ten tests before it in its process" in text
    assert text.count("a suspect ran") == 5
    assert "no suspect ran before it" not in text


def test_a_leaker_says_on_its_own_page_what_it_breaks(shuffled, viewer):
    text = page(viewer, shuffled, of_test(shuffled, LEAKER))
    assert "What it breaks" in text
    assert "Leaker: it leaves sys_modules.removed behind and breaks 3 tests." in text


def test_the_page_of_a_run_names_the_cause_of_each_failure(shuffled, viewer):
    red = Run.objects.filter(failures__test__nodeid=VICTIM).first()
    text = page(viewer, shuffled, f"/runs/{red.pk}")
    assert "broken by the leaker" in text
    assert "confirmed; it ran before it here" in text


def test_a_leaker_that_did_not_run_before_is_not_the_cause(shuffled, viewer):
    """The pair is known, yet here the victim failed alone."""
    alone = b"""<testsuite name="pytest"><testcase classname="tests.test_0"
      name="test_11"><failure message="state is dirty"/></testcase></testsuite>"""
    for run, order in (("alone", True), ("unordered", False)):
        files = [("junit", "r.xml", alone)]
        if order:
            line = {"v": 1, "test": VICTIM, "worker": "gw0", "pid": 1, "position": 0}
            line |= {"start": 1.0, "duration": 0.5, "outcome": "failed"}
            files.append(("order", "o.jsonl", json.dumps(line).encode()))
        context = {"run": run, "branch": "main", "commit": "e" * 40}
        post(Upload(context, files), bearer(shuffled.token))
    drain_all()
    text = page(viewer, shuffled, f"/runs/{Run.objects.get(name='alone').pk}")
    assert "usually broken by" in text
    assert "which did not run before it here" in text
    assert "broken by the leaker" not in text


def test_unstable_tests_are_listed_with_their_class(shuffled, viewer):
    text = page(viewer, shuffled, "/flaky")
    assert "5 tests are unstable in the last 30 days: 3 victims" in text
    assert "1 flaky" in text
    flaky = page(viewer, shuffled, "/flaky", **{"class": "flaky"})
    assert suite.nodeid(suite.FLAKE).rpartition("::")[2] in flaky
    assert VICTIM.rpartition("::")[2] not in flaky


def test_the_map_draws_each_pair_and_shows_the_chosen_one(shuffled, viewer):
    leaker = Leaker.objects.get()
    victim = shuffled.project.tests.get(nodeid=VICTIM)
    text = page(viewer, shuffled, "/leak-map")
    # Its three victims, and the flake that it is suspected of, a little.
    assert "1 leaker (open) and 4 victims: 4 pairs, claimed or suspected." in text
    assert "Evidence" not in text
    chosen = page(viewer, shuffled, "/leak-map", leaker=leaker.pk, victim=victim.pk)
    assert "Evidence Close Leaker" in chosen
    assert "Chance alone makes such a table" in chosen


def test_projects_show_their_open_leakers(shuffled, viewer):
    text = page(viewer, shuffled, "/")
    assert "open leakers 1 tests that break others" in text
    assert "Open leakers, by cost" in text
    cell = viewer.get("/").content.decode()
    assert f'href="{base(shuffled.project)}/leakers">1</a>' in cell


@pytest.fixture
def made(acme):
    """A leaker that is only stored, with a victim."""
    suite.send_all(acme, suite.story(runs=1), start=START)
    drain_all()
    cases = [acme.project.tests.get(nodeid=one) for one in (LEAKER, VICTIM)]
    leaker = make_leaker(acme.project, cases[0])
    make_pair(acme.project, *cases)
    return leaker


def test_without_leakers_the_pages_say_how_they_are_found(acme, viewer):
    text = page(viewer, acme, "/leakers")
    assert "No test is known to leave state behind that breaks others." in text
    assert "-F junit=@report.xml -F order=@order.jsonl -F gate=@gate.json" in text
    assert '"project": "acme/app"' in text
    assert "Nothing to draw" in page(viewer, acme, "/leak-map")
    assert "Nothing is unstable" in page(viewer, acme, "/flaky")


def test_filters_are_in_the_address(acme, made, viewer):
    shown = "test_04"
    assert shown in page(viewer, acme, "/leakers", q="TEST_04")
    assert "No leaker fits" in page(viewer, acme, "/leakers", q="nothing-like-it")
    assert "No leaker fits" in page(viewer, acme, "/leakers", state="fixed")
    assert "No leaker fits" in page(viewer, acme, "/leakers", source="gate")
    assert shown in page(viewer, acme, "/leakers", source="correlation", owner="-")
    assert "No leaker fits" in page(viewer, acme, "/leakers", kind="env.set")
    Leaker.objects.update(kinds=["env.set"], owner="ana", state="muted")
    assert shown in page(
        viewer, acme, "/leakers", state="muted", kind="env.set", owner="ana"
    )
    assert "No leaker is open. " in page(viewer, acme, "/leakers")


def test_a_page_of_many_leads_to_the_next(acme, viewer):
    suite.send_all(acme, suite.story(runs=1), start=START)
    drain_all()
    for cost, case in enumerate(acme.project.tests.order_by("number")[:52]):
        make_leaker(acme.project, case, lost_s=float(cost))
    answer = viewer.get(f"{base(acme.project)}/leakers")
    assert "50 shown" in read(answer)
    cursor = answer.context["page"].next
    text = page(viewer, acme, "/leakers", cursor=cursor)
    assert "First page" in text
    assert text.count("Copy the test's id") == 2


def test_what_is_not_identifiable_says_what_would_decide(acme, made, viewer):
    command = "pytest -p no:randomly a b"
    probe = {
        "ask": "order",
        "why": "These hold half of the belief.",
        "command": command,
    }
    case = acme.project.tests.get(nodeid=VICTIM)
    missing = "Fewer than two failures."
    make_verdict(acme.project, case, "unexplained", missing=missing, probe=probe)
    text = page(viewer, acme, of_test(acme, VICTIM))
    assert "Not identifiable yet: the runs do not say why it fails" in text
    assert "Fewer than two failures." in text
    assert "What would decide it These hold half of the belief." in text
    assert command in text


def decide(client, leaker, status=302, **fields):
    path = f"{base(leaker.project)}/leakers/{leaker.pk}/decide"
    answer = client.post(path, {"seen": "open"} | fields)
    assert answer.status_code == status
    return answer


def test_a_triager_decides_and_the_story_tells_it(acme, made, triager):
    decide(triager, made, state="fixed", commit="c" * 40, note="by #540", owner="ana")
    made.refresh_from_db()
    assert (made.state, made.owner, made.fixed_commit) == ("fixed", "ana", "c" * 40)
    text = page(triager, acme, f"/leakers/{made.pk}")
    assert "fixed was open by a-triager by #540" in text
    assert "fix commit ccccccccc by a-triager" in text
    assert "owner ana by a-triager" in text
    assert "0 failures in 0 relevant runs since; at least 10 more are needed." in text
    assert AuditEntry.objects.filter(action="leaker.decided").count() == 1


def test_what_cannot_be_decided_is_said_and_changes_nothing(acme, made, triager):
    for fields, said in (
        ({"state": "muted"}, "Say why in the note. Nothing was changed."),
        ({"state": "fixed"}, "Name the commit that fixed it. Nothing was changed."),
        ({"state": "verified_fixed"}, "A value makes no sense. Nothing was changed."),
        ({"seen": "elsewhere"}, "A value makes no sense. Nothing was changed."),
        ({"seen": "muted", "state": "dismissed", "note": "n"}, "It is open by now"),
        ({}, "Nothing was to be changed."),
    ):
        decide(triager, made, **fields)
        assert said in page(triager, acme, f"/leakers/{made.pk}"), fields
    assert not LeakerDecision.objects.exists()


def test_a_viewer_does_not_decide(acme, made, viewer):
    decide(viewer, made, status=403, note="hello")
    assert not LeakerDecision.objects.exists()


def test_a_leaker_of_another_project_is_not_decided_on(acme, made):
    other = create_project("acme/other", actor="a test")
    client = visitor(other.project, Role.ADMIN)
    path = f"{base(other.project)}/leakers/{made.pk}/decide"
    assert client.post(path, {"seen": "open", "note": "hello"}).status_code == 404


def test_a_dismissed_leaker_is_nobodys_cause(acme, made, viewer):
    red = b"""<testsuite name="pytest"><testcase classname="tests.test_0"
      name="test_11"><failure message="state is dirty"/></testcase></testsuite>"""
    post(
        Upload({"run": "red", "branch": "main"}, [("junit", "r.xml", red)]),
        bearer(acme.token),
    )
    drain_all()
    Leaker.objects.all().delete()
    Pair.objects.all().delete()
    leaker = make_leaker(acme.project, acme.project.tests.get(nodeid=LEAKER))
    make_pair(acme.project, leaker.test, acme.project.tests.get(nodeid=VICTIM))
    run = Run.objects.get(name="red").pk
    assert "usually broken by" in page(viewer, acme, f"/runs/{run}")
    Leaker.objects.update(state="dismissed")
    assert "broken by" not in page(viewer, acme, f"/runs/{run}")


def test_a_note_stands_in_the_story(acme, made, viewer):
    make_decision(made, note="asked the owners")
    assert "note by ana asked the owners" in page(viewer, acme, f"/leakers/{made.pk}")
