"""Which finding is which, and what a finding speaks of."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.reviews.identity import fold, identity, normalised_title
from formats.reviews.references import references
from formats.reviews.review import Finding, Place, Severity, Suppression

A = Finding(Severity.P1, "app/a.py", "The `gate` ships red", 10, rule="R1")


@pytest.mark.parametrize(
    "changes",
    [
        {"line": 99, "end_line": 100},
        {"line": None},
        {"also_at": (Place(3),)},
        {"severity": Severity.P3},
        {"detail": "More"},
        {"reviewers": ("B",)},
        {"source_line": 5},
        {"suppressions": (Suppression("inSource"),)},
        {"title": "the gate ships red"},
        {"title": "The **gate** ships  red."},
        {"title": "“The gate” ships red!"},
        {"title": "The [gate](x) ships red"},
    ],
)
def test_finding_is_the_same(changes):
    assert identity(replace(A, **changes)) == identity(A)


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "app/b.py"},
        {"rule": "R2"},
        {"rule": ""},
        {"title": "The gate ships"},
        {"title": "The gate ships red 2"},
        {"path": "app/a.pyThe", "title": "gate ships red"},
        {"fingerprints": (("line", "abc"),)},
    ],
)
def test_finding_is_another(changes):
    assert identity(replace(A, **changes)) != identity(A)


def test_partial_fingerprints_win():
    first = replace(A, fingerprints=(("line/v1", "abc:1"),))
    moved = replace(first, path="lib/b.py", title="Reworded", line=7)

    assert identity(moved) == identity(first)
    assert identity(replace(first, rule="R2")) != identity(first)
    other = (("line/v1", "abc:2"),)
    assert identity(replace(first, fingerprints=other)) != identity(first)


@pytest.mark.parametrize(
    ("title", "normal"),
    [
        ("A — b", "a - b"),
        ("!!!", "!!!"),
        ("Straße", "strasse"),
        ("ﬁle", "file"),
        ("snake_case _x_ stays", "snake_case x stays"),
    ],
)
def test_title_is_normalised(title, normal):
    assert normalised_title(title) == normal


@given(st.text(max_size=30))
def test_normalising_twice_is_once(title):
    once = normalised_title(title)

    assert normalised_title(once).casefold() == normalised_title(once)


def test_same_finding_from_several_reviewers_is_folded():
    found = fold(
        [
            replace(A, severity=Severity.P2, reviewers=("C",), line=30, detail="Two"),
            replace(A, reviewers=("B",), detail="One"),
            replace(A, reviewers=("B",), line=20, end_line=25, detail="One"),
        ]
    )

    assert list(found) == [identity(A)]
    (one,) = found.values()
    assert one.severity is Severity.P1
    assert one.reviewers == ("B", "C")
    assert one.places == (Place(10), Place(20, 25), Place(30))
    assert one.detail == "One\n\nTwo"


def test_finding_silenced_at_one_place_only_is_not_silenced():
    silent = replace(A, suppressions=(Suppression("inSource"),))
    (both,) = fold([silent, silent]).values()
    (one,) = fold([silent, A]).values()

    assert both.suppressed
    assert not one.suppressed


FINDINGS = st.lists(
    st.builds(
        Finding,
        severity=st.sampled_from(Severity),
        path=st.sampled_from(["a.py", "b.py"]),
        title=st.sampled_from(["Gate", "gate.", "Leak"]),
        line=st.none() | st.integers(1, 5),
        detail=st.sampled_from(["", "x", "y"]),
        reviewers=st.sets(st.sampled_from("BC")).map(sorted).map(tuple),
    ),
    max_size=8,
)


@given(FINDINGS, st.randoms())
def test_folding_is_the_same_in_any_order_and_loses_nothing(findings, rng):
    found = fold(findings)

    assert fold(rng.sample(findings, len(findings))) == found
    for key, one in found.items():
        group = [each for each in findings if identity(each) == key]
        assert set(one.places) == {place for each in group for place in each.places}
        assert set(one.reviewers) == {name for each in group for name in each.reviewers}
        assert all(each.detail in one.detail for each in group)
        assert one.severity == min(each.severity for each in group)


@pytest.mark.parametrize(
    ("text", "pulls"),
    [
        ("Land #540 first", (540,)),
        ("until #540's fix, and (#541)", (540, 541)),
        ("PR #7, PR#8 and #7", (7, 8)),
        ("leaker #1 and round #2", ()),
        ("acme/app#3", ()),
        ("&#39; and #0 and ##4", ()),
        ("#12a", ()),
        ("nothing", ()),
    ],
)
def test_pull_requests_are_named(text, pulls):
    assert references(replace(A, title=text)).pulls == pulls
    assert references(replace(A, detail=text)).pulls == pulls


def test_test_files_and_tests_are_named():
    finding = Finding(
        Severity.P1,
        "tests/unit/test_a.py",
        "test_b.py::test_purge still leaks, as conftest.py did",
        detail="See web/form.spec.ts and FormTest.java; not app/contest.py.",
    )
    found = references(finding)

    assert found.test_files == (
        "tests/unit/test_a.py",
        "test_b.py",
        "conftest.py",
        "web/form.spec.ts",
        "FormTest.java",
    )
    assert found.tests == ("test_purge",)


@pytest.mark.parametrize(
    ("path", "title", "about", "gates"),
    [
        ("tests/sys_modules_leak_gate.py", "Too wide", True, ("sys_modules",)),
        ("conftest.py", "The sys.modules gate fires twice", True, ("sys_modules",)),
        ("conftest.py", "The gate on os.environ is off", True, ("env",)),
        ("conftest.py", "sys.modules is purged", False, ()),
        ("app/delegate.py", "Investigate the gateway", False, ()),
        ("app/gate.py", "Slow", True, ()),
    ],
)
def test_gates_are_named(path, title, about, gates):
    found = references(Finding(Severity.P1, path, title))

    assert (found.about_gate, found.gates) == (about, gates)
