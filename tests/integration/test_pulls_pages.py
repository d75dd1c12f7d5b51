"""The pages of pull requests, from uploads and webhooks to what a person reads."""

from __future__ import annotations

import pytest

from projects.creation import Created, create_project
from projects.models import AuditEntry, Role
from results.models import Run
from tests.pulling import gate, hook, main, pull_request, run
from tests.routing import make_route
from tests.visiting import base, read, visit, visitor

pytestmark = pytest.mark.django_db

A, B = "a" * 40, "b" * 40
HEAD = "e" * 40
LEAK = gate(("purge", "sys_modules.removed"), name="sys_modules")


@pytest.fixture
def acme() -> Created:
    return create_project("acme/app", actor="test")


@pytest.fixture
def github(acme):
    return make_route(acme.project, "github")


@pytest.fixture
def viewer(acme):
    return visitor(acme.project, Role.VIEWER)


@pytest.fixture
def triager(acme):
    return visitor(acme.project, Role.TRIAGER)


@pytest.fixture
def told(acme, github) -> Created:
    """#541 inherits a failure and a leak, brings a failure, and waits for #540."""
    main(acme, A, 0, purge="", one="Boom: one", two="", gone="", leaks=LEAK)
    hook(github, "pull_request", pull_request(540, 1, title="Mend it", head="5" * 40))
    body = "Land #540 first."
    opened = pull_request(541, 1, head=HEAD, base=A, body=body, title="Add a cart")
    hook(github, "pull_request", opened)
    said = {"purge": "", "one": "Boom: one", "two": "Ouch: two", "fresh": ""}
    run(acme, HEAD, 2, pr=541, base=A, leaks=LEAK, **said)
    return acme


def page(client, acme, below="", **query):
    return visit(client, base(acme.project) + below, **query)


def test_the_page_says_whose_each_failure_is(told, viewer):
    text = page(viewer, told, "/pulls/541")
    assert "#541 Add a cart" in text
    assert "2 failures: 1 introduced, 1 inherited. 1 leak: 0 introduced" in text
    assert "Red by this project's policies: it introduces 1 failure." in text
    mine = text.index("these are its own")
    assert mine < text.index("::two", mine) < text.index("seen at the base too")
    assert "It was not seen at aaaaaaa, where the test ran" in text
    assert "leak sys_modules.removed" in text


def test_the_page_names_blockers_and_who_waits(told, viewer):
    text = page(viewer, told, "/pulls/541")
    assert "in the order to merge them #540 Mend it" in text
    assert "Merge first: #540." in text
    assert "Who waits for it #541 Add a cart" in page(viewer, told, "/pulls/540")


def test_the_page_compares_with_the_base(told, viewer):
    text = page(viewer, told, "/pulls/541")
    assert "1 test added, 1 test removed, no tests slower" in text
    assert "Tests added 1" in text
    assert "::fresh" in text


def test_what_is_fixed_upstream_comes_with_a_rebase_to_copy(told, viewer):
    main(told, B, 3, purge="", one="", two="", gone="", leaks=gate())
    text = page(viewer, told, "/pulls/541")
    assert f"git fetch origin && git rebase {B}" in text
    assert "Gone on main since bbbbbbbbb" in text


def test_the_list_has_the_verdict_in_short_and_filters(told, viewer):
    text = page(viewer, told, "/pulls")
    assert "2 pull requests are open: 1 with faults of its own" in text
    assert "1 is red" in text
    assert text.index("#541 Add a cart") < text.index("#540 Mend it")
    assert "Add a cart" not in page(viewer, told, "/pulls", q="540")
    assert "Mend it" not in page(viewer, told, "/pulls", verdict="yours")
    nothing = page(viewer, told, "/pulls", state="merged")
    assert "No pull request fits these filters" in nothing
    assert "Mend it" in page(viewer, told, "/pulls", verdict="nonsense", cursor="x")


def test_dependencies_are_a_list_and_a_drawing(told, viewer):
    text = page(viewer, told, "/dependencies")
    assert "2 pull requests and 1 edge that is open." in text
    assert "waits for #540 Mend it" in text
    assert "by its texts" in text
    assert text.index("Who waits for whom") < text.index("Drawing")


def test_circles_are_named(told, github, viewer):
    back = pull_request(540, 4, title="Mend it", head="5" * 40, body="Needs #541")
    hook(github, "pull_request", back)
    circle = "A circle: #540, #541 wait for each other."
    assert circle in page(viewer, told, "/dependencies")
    assert circle in page(viewer, told, "/pulls/541")


def test_without_any_pull_request_the_pages_say_what_to_do(acme, viewer):
    text = page(viewer, acme, "/pulls")
    assert "No pull request yet" in text
    assert '"project": "acme/app", "pr": 1' in text
    assert "Depends on #12" in page(viewer, acme, "/dependencies")
    assert viewer.get(base(acme.project) + "/pulls/9").status_code == 404
    assert viewer.get(base(acme.project) + f"/pulls/{2**40}").status_code == 404


def test_a_triager_sets_edges_and_a_state(told, triager):
    path = f"{base(told.project)}/pulls/540/change"
    answer = triager.post(path, {"act": "add", "to": "77"}, follow=True)
    assert "#540 waits for #77 by hand Remove" in read(answer)
    removed = triager.post(path, {"act": "remove", "to": "77"}, follow=True)
    assert "#77" not in read(removed)
    triager.post(path, {"act": "state", "state": "merged"})
    assert "1 pull request is open" in page(triager, told, "/pulls")
    acts = AuditEntry.objects.filter(action__startswith="pull.")
    assert sorted(acts.values_list("action", flat=True)) == [
        "pull.edge_added",
        "pull.edge_removed",
        "pull.state_set",
    ]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"act": "add", "to": "540"}, "cannot wait for itself"),
        ({"act": "add", "to": "x"}, "#0 is no number of a pull request"),
        ({"act": "remove", "to": "3"}, "does not wait for #3"),
        ({"act": "state", "state": "lost"}, "makes no sense"),
        ({"act": "fly"}, "makes no sense"),
    ],
)
def test_what_cannot_be_set_changes_nothing(told, triager, sent, said):
    path = f"{base(told.project)}/pulls/540/change"
    text = read(triager.post(path, sent, follow=True))
    assert said in text
    assert "Stored" not in text
    assert not AuditEntry.objects.filter(action__startswith="pull.").exists()


def test_a_viewer_sets_nothing(told, viewer):
    path = f"{base(told.project)}/pulls/540/change"
    assert viewer.post(path, {"act": "add", "to": "77"}).status_code == 403
    assert "Said of it" in page(viewer, told, "/pulls/541")
    assert "Remove" not in page(viewer, told, "/pulls/541")


def test_search_finds_pull_requests_by_number_and_title(told, viewer):
    for asked in ("#541", "541", "a cart"):
        text = page(viewer, told, "/search", q=asked)
        assert "#541 Add a cart" in text


def test_the_page_of_a_run_leads_to_its_pull_request(told, viewer):
    of_pull = Run.objects.get(pr=541)
    answer = viewer.get(f"{base(told.project)}/runs/{of_pull.pk}")
    assert f'href="{base(told.project)}/pulls/541"' in answer.content.decode()


def test_the_page_of_a_project_shows_the_journey(told, github, viewer):
    merged = pull_request(540, 3, title="Mend it", state="merged", merge_commit=B)
    hook(github, "pull_request", merged)
    main(told, B, 4, ancestry=[B, A], purge="", one="", two="", gone="")
    text = page(viewer, told, "/", window=365)
    assert "Journey failing tests of the complete runs of main" in text
    assert "0 of 4 −1 #540" in text


def test_a_number_of_which_nothing_is_known_leads_nowhere(told, triager):
    root = base(told.project)
    triager.post(f"{root}/pulls/540/change", {"act": "add", "to": "77"})
    for below in ("/pulls/540", "/dependencies"):
        html = triager.get(root + below).content.decode()
        assert "nothing is known of it" in html
        assert f'href="{root}/pulls/541"' in html
        assert f'href="{root}/pulls/77"' not in html
