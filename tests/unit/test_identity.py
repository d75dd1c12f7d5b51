"""One key for one test case, whatever format tells of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats import identity
from formats.identity import Identifier, Identity, identifier, identify, is_pytest
from formats.prefixes import IdentityRules
from formats.report import Element


def case(name: str, classname: str = "", **fields: object) -> Element:
    return Element(name=name, classname=classname, **fields)  # type: ignore[arg-type]


def traced(nodeid: str) -> Element:
    return Element(name=nodeid, nodeid=nodeid, pytest=True)


@pytest.mark.parametrize(
    "name",
    ["test_a", "test_a[x]", "test_a[a::b]", "test_a[a/b.py::c]", "test_a[[x]-[y]]",
     "test_a[]", "test_a[\u65e5]", "test_a[a b]"],
)  # fmt: skip
@pytest.mark.parametrize("suite", ["", "TestA", "TestA::TestB"])
def test_pytest_forms_give_one_key(name, suite):
    dotted = ".".join(["pkg.test_m", *(suite.split("::") if suite else [])])
    nodeid = "::".join(filter(None, ["pkg/test_m.py", suite, name]))
    forms = {
        "xunit1": case(name, dotted, file="pkg/test_m.py", suites=("pytest",)),
        "xunit2": case(name, dotted, pytest=True, suites=("pytest",)),
        "trace": traced(nodeid),
        "windows": traced(nodeid.replace("pkg/", "pkg\\")),
        "dotted-slash": traced(f"./{nodeid}"),
    }

    found = {form: identify(element) for form, element in forms.items()}

    assert {one.key for one in found.values()} == {f"{dotted}::{name}"}
    assert found["xunit1"].nodeid == nodeid
    assert found["trace"].nodeid == nodeid
    assert found["xunit2"].nodeid == f"{dotted}::{name}"
    ranks = [found[form].rank for form in ("xunit2", "xunit1", "trace")]
    assert ranks == [1, 2, 3]


def test_node_id_is_taken_apart():
    found = identify(traced("pkg/test_m.py::TestA::test_a[a::b[0]]"))

    assert found == Identity(
        key="pkg.test_m.TestA::test_a[a::b[0]]",
        nodeid="pkg/test_m.py::TestA::test_a[a::b[0]]",
        rank=3,
        file="pkg/test_m.py",
        suite="TestA",
        name="test_a",
        params="a::b[0]",
        masked=(),
        raw="pkg.test_m.TestA::test_a[a::b[0]]",
    )


def test_file_of_a_base_class_is_not_taken_for_the_module():
    found = identify(
        case("test_a", "pkg.test_m.TestA", file="pkg/base.py", pytest=True)
    )

    assert found.key == "pkg.test_m.TestA::test_a"
    assert found.nodeid == "pkg.test_m.TestA::test_a"


@pytest.mark.parametrize(
    ("file", "classname", "expected"),
    [
        ("t.py", "t.TestFoo", True),
        ("t.py", "t", True),
        ("a\\t.py", "a.t", True),
        ("t.py", "tt", False),
        ("t.js", "t", False),
        ("", "t", False),
        ("t.py", "", False),
    ],
)
def test_pytest_is_known_by_a_file_that_begins_the_classname(file, classname, expected):
    assert is_pytest(case("x", classname, file=file)) is expected


def test_module_that_could_not_be_imported_is_one_pseudo_case():
    report = identify(case("col.test_c", message="collection failure", pytest=True))
    log = identify(Element(name="", nodeid="col/test_c.py", collection=True))

    assert report.key == log.key == "col.test_c (collection)"
    assert log.nodeid == "col/test_c.py (collection)"


@pytest.mark.parametrize(
    ("element", "nodeid"),
    [
        (case("", collection=True, suites=("a", "b")), "a::b (collection)"),
        (case("b", collection=True, suites=("a", "b")), "a::b (collection)"),
        (case("b (collection)", collection=True), "b (collection)"),
        (case("", collection=True, file="a.js"), "a.js (collection)"),
    ],
    ids=["suites", "named", "suffixed", "file"],
)
def test_suite_that_broke_is_a_pseudo_case(element, nodeid):
    assert identify(element).nodeid == nodeid


OTHERS = [
    case("rule-7", "lint", file="docs/a.md"),
    case("rule-7", "lint", file="docs/b.md"),
    case("test_get", "t.TestFoo"),
    case("test_get", "t.TestBar"),
    case("price[eur]", "shop"),
    case("price[usd]", "shop"),
    case("cmd/main.go", suites=("Rule 17",)),
    case("cmd/main.go", suites=("Other rule",)),
    case("starts", "Smoke", suites=("billing.Smoke",)),
    case("starts", "Smoke", suites=("cart.Smoke",)),
    case("x", suites=("a", "b")),
    case("x", suites=("a::b",)),
    case("x", "a", suites=("b",)),
    case("x", "b", suites=("a",)),
    case("b::x", "a"),
    case("x", "a::b"),
    case("Case", "t"),
    case("case", "t"),
    case("long " * 400 + "a", "t"),
    case("long " * 400 + "b", "t"),
]


def test_different_cases_have_different_keys():
    identify_one = Identifier().identify

    assert len({identify_one(element).key for element in OTHERS}) == len(OTHERS)


def test_suite_equal_to_classname_or_file_is_dropped():
    alone = identify(case("x", "com.acme.T"))

    assert identify(case("x", "com.acme.T", suites=("com.acme.T",))).key == alone.key
    filed = identify(case("x", file="a.js"))
    assert identify(case("x", file="a.js", suites=("a.js",))).key == filed.key
    assert alone.nodeid == "com.acme.T::x"


def test_whole_name_is_kept():
    name = 'a > b shows "x" &amp; done ' + "very long " * 500

    found = identify(case(name, "t"))

    assert found.name == name
    assert found.nodeid == f"t::{name}"


def test_composed_and_decomposed_letters_are_one_name():
    assert identify(case("cafe\u0301", "t")).key == identify(case("caf\u00e9", "t")).key


def test_separators_in_names_do_not_forge_another_key():
    assert identify(case("b", "a")).key != identify(case("a\x1fb")).key
    assert "\x00" not in identify(case("a\x00b")).nodeid


def test_test_id_wins_over_everything():
    first = identify(case("old", "t", test_id="CART-1"))
    second = identify(case("new", "u", file="z.js", test_id="CART-1"))

    assert first.key == second.key
    assert first.key != identify(case("CART-1")).key
    assert (first.nodeid, second.nodeid) == ("t::old", "z.js::u::new")


def test_volatile_parts_leave_the_key_but_not_the_display():
    linux = identify(case("reads[/home/runner/work/shop/shop/a.json]", "t"))
    windows = identify(case(r"reads[D:\a\shop\shop\a.json]", "t"))

    assert linux.key == windows.key
    assert linux.raw != windows.raw
    assert linux.masked == ("/home/runner/work/shop/shop/a.json",)
    assert linux.nodeid == "t::reads[/home/runner/work/shop/shop/a.json]"


def test_absolute_file_is_the_one_below_the_checkout():
    absolute = identify(case("x", file="/home/runner/work/shop/shop/src/a.test.js"))
    relative = identify(case("x", file="src/a.test.js"))

    assert absolute.key == relative.key
    assert absolute.file == "src/a.test.js"


@pytest.mark.parametrize(
    "rules",
    [
        IdentityRules(strip_classname_prefixes=("web.",)),
        IdentityRules(strip_classname_prefixes=("web",)),
        IdentityRules(add_classname_prefix="web"),
    ],
    ids=["strip", "strip-undotted", "add"],
)
def test_prefix_rules_join_reports_from_two_directories(rules):
    root = identify(case("opens", "web.cart.cart_test"), rules)
    below = identify(case("opens", "cart.cart_test"), rules)

    assert root.key == below.key


@pytest.mark.parametrize(
    "rules",
    [
        IdentityRules(strip_path_prefixes=("backend/",)),
        IdentityRules(add_path_prefix="backend"),
        IdentityRules(strip_classname_prefixes=("backend",)),
        IdentityRules(add_classname_prefix="backend."),
    ],
    ids=["strip-path", "add-path", "strip-class", "add-class"],
)
def test_prefix_rules_hold_for_every_pytest_form(rules):
    forms = [
        traced("backend/tests/test_a.py::T::test_x"),
        traced("tests/test_a.py::T::test_x"),
        case("test_x", "backend.tests.test_a.T", pytest=True),
        case("test_x", "tests.test_a.T", file="tests/test_a.py"),
        case("test_x", "backend.tests.test_a.T", file="backend/tests/test_a.py"),
    ]

    found = [identify(form, rules) for form in forms]

    assert len({one.key for one in found}) == 1
    assert len({one.nodeid for one in found if one.rank > 1}) == 1


def test_prefix_is_whole_parts_only():
    rules = IdentityRules(strip_classname_prefixes=("web",))

    assert identify(case("x", "website.a"), rules).nodeid == "website.a::x"


def test_longest_prefix_is_stripped_once():
    rules = IdentityRules(strip_path_prefixes=("a", "a/b"))

    assert identify(case("x", file="a/b/a/c.js"), rules).file == "a/c.js"


NAMES = st.text(max_size=20)


@given(NAMES, NAMES, NAMES, st.lists(NAMES, max_size=3), st.booleans())
def test_any_element_has_a_storable_identity(
    name, classname, file, suites, pytest_made
):
    element = case(name, classname, file=file, suites=tuple(suites), pytest=pytest_made)

    found = identify(element)

    assert found == identify(element)
    for part in (found.key, found.nodeid, found.file, found.suite, found.name):
        assert "\x00" not in part
        part.encode()


@given(st.lists(st.sampled_from(OTHERS), max_size=20))
def test_remembering_places_changes_nothing(elements):
    known = Identifier()

    assert [known.identify(one) for one in elements] == [
        identify(one) for one in elements
    ]


def test_what_is_remembered_changes_no_identity(monkeypatch):
    monkeypatch.setattr(identity, "MOST_KNOWN", 40)
    rules = IdentityRules(strip_path_prefixes=("remembered/here",))
    written = [
        Element(
            name=f"test_{n % 7}[{n}]",
            classname=f"remembered.here.test_{n % 5}.TestIt",
            file=f"f{n % 3}.py" if n % 2 else "",
            suites=("outer", f"s{n % 2}") if n % 3 else (),
            pytest=bool(n % 4),
        )
        for n in range(100)
    ]
    for _ in range(3):
        for some in (written[:30], written[25:], written):
            again = identifier(rules).identify
            assert [again(one) for one in some] == [
                Identifier(rules).identify(one) for one in some
            ]


def test_an_identifier_is_kept_until_it_is_full(monkeypatch):
    monkeypatch.setattr(identity, "MOST_KNOWN", 3)
    rules = IdentityRules(strip_path_prefixes=("kept/here",))
    first = identifier(rules)
    for name in ("a", "b", "x" * 301):  # the last one is too long to remember
        first.identify(Element(name=name, classname="c"))
    assert identifier(rules) is first
    first.identify(Element(name="c", classname="c"))
    assert identifier(rules) is not first
    assert identifier(rules) is identifier(rules)


def test_an_identifier_of_many_classes_is_not_kept(monkeypatch):
    monkeypatch.setattr(identity, "MOST_PLACES", 2)
    rules = IdentityRules(strip_path_prefixes=("many/classes",))
    first = identifier(rules)
    for nodeid in ("a.py::test", "b.py::test", "c.py::test"):
        first.identify(Element(name="test", nodeid=nodeid))
    assert identifier(rules) is not first
