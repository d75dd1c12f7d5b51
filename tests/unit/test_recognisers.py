"""Gates' texts: each recogniser fires on its own, and is silent on every quote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.gates import EntryDetail
from formats.own_patterns import OwnPattern, OwnPatterns, PatternError, compiled
from formats.recognisers import Carrier, Recognisers

NAME = "test_swaps_the_loader"
NODEID = f"tests/shop/test_loader.py::TestLoad::{NAME}"
MODULES = "removed 3 module(s) from sys.modules and did not restore them"
SAID = f"{NODEID} {MODULES}: shop.cart, shop.tax (+1 more)"
GUARD = """Ticket #7: 2 entries left in a real control plane (look at them):
  /board/jobs/7.json  [no agent_session]  agent_session=None  prompt=''
  /board/logs of/7  [audit log without a registry record]  agent_session='a:\\'b'  prompt="it's\\nme\""""


def find(message="", text="", *, name=NAME, own=(), **options):
    patterns = OwnPatterns(own) if own else None
    return Recognisers(patterns).find(message, text, Carrier(name, NODEID), **options)


def body(text, kind="Failed"):
    """A text as pytest prints it below the source of a fixture."""
    lines = f"{kind}: {text}".split("\n")
    shown = "\n".join(f"E       {line}" for line in lines)
    return f"request = <SubRequest '_gate'>\n\n>   yield\n\n{shown}\n\nconftest.py:9: {kind}"


FIRES = {
    "message": (SAID, ""),
    "Failed": (f"Failed: {SAID}", ""),
    "another type": (f"shop.gates.LeakError: {SAID}", ""),
    "teardown": (f'failed on teardown with "Failed: {SAID}"', ""),
    "teardown without a type": (f'failed on teardown with "{SAID}"', ""),
    "wrapped": (f"Failed: {NODEID}\n        {MODULES}", ""),
    "every blank": (f"Failed: {NODEID}\t{MODULES}".replace(" ", " \n\t "), ""),
    "recipe": (f"Failed: {SAID}\n\nRestore what you purge.", ""),
    "body": ("", body(SAID)),
    "body, headline as message": ("request = <SubRequest '_gate'>", body(SAID)),
    "body, wrapped": ("", body(f"{NODEID}\n  {MODULES}")),
    "body, short style": ("", f"conftest.py:9: in _gate\nE   Failed: {SAID}"),
}


@pytest.mark.parametrize("name", FIRES)
def test_the_exception_itself_is_a_leak(name):
    message, text = FIRES[name]
    found = find(message, text)
    assert found is not None
    [leak] = found.leaks
    assert found.whole
    assert (leak.kind, leak.gate) == ("sys_modules.removed", "sys_modules")
    assert (leak.test_nodeid, leak.item_count, leak.raised) == (NODEID, 3, True)


QUOTES = {
    "assert ==": f"AssertionError: assert '{SAID}' == ''",
    "assert without type": f"assert '{SAID}' == ''",
    "assert in": f'AssertionError: assert "{SAID}" in []',
    "a word before": f"AssertionError: expected {SAID}",
    "a word before the type": f"ValueError: got Failed: {SAID}",
    "two words": f"AssertionError: not {SAID}",
    "another test": f"Failed: tests/a.py::test_inner {MODULES}",
    "another parameter": f"Failed: {NODEID}[1] {MODULES}",
    "no node id": f"Failed: {NAME} {MODULES}",
    "a quoted path": f"Failed: '{NODEID} {MODULES}'",
    "no number": f"Failed: {NODEID} removed some module(s) from sys.modules",
    "cut off": f"Failed: {NODEID} removed 3 module(s) from sys.modules and did not",
    "another verb": f"Failed: {SAID}".replace("removed", "replaced"),
    "longer words": f"Failed: {NODEID} {MODULES}elves",
    "in the middle": f"RuntimeError: no provider\n\nFailed: {SAID}",
}


@pytest.mark.parametrize("name", QUOTES)
def test_a_quote_is_no_leak(name):
    assert find(QUOTES[name]) is None
    lines = QUOTES[name].split("\n")
    assert find("", "\n".join(f"E       {line}" for line in lines)) is None


BODIES = {
    "a diff": f"E       AssertionError: assert 'a' == 'b'\nE         Failed: {SAID}",
    "a diff's sides": f"E       AssertionError: x\nE         - Failed: {SAID}\nE         + ",
    "printed": f"tests/a.py:3: in {NAME}\n    print()\nFailed: {SAID}",
    "the source": f'>       raise Failed("{SAID}")\nE       ValueError: x',
    "no E line": f"    E       Failed: {SAID}",
}


@pytest.mark.parametrize("name", BODIES)
def test_a_quote_in_a_body_is_no_leak(name):
    assert find("AssertionError: x", BODIES[name]) is None
    assert find("", BODIES[name]) is None


@pytest.mark.parametrize(
    ("rest", "items", "recipe"),
    [
        ("", (), ""),
        (": a.b", ("a.b",), ""),
        (":\n  a.b,\n  c (+57 more)", ("a.b", "c"), ""),
        (": a, b, c (+1 more)\n\nUse x: y.", ("a", "b", "c"), "Use x: y."),
        (". Use x.", (), "Use x."),
    ],
)
def test_items_and_recipe(rest, items, recipe):
    found = find(f"Failed: {NODEID} {MODULES}{rest}")
    assert (found.leaks[0].items, found.leaks[0].recipe) == (items, recipe)
    assert found.leaks[0].item_count == 3


def test_message_and_body_are_one_leak_with_the_recipe_of_the_body():
    found = find(
        f'failed on teardown with "Failed: {SAID}"', body(f"{SAID}\n\nRestore it.")
    )
    [leak] = found.leaks
    assert (leak.message, leak.recipe, leak.phase) == (SAID, "Restore it.", "teardown")


@pytest.mark.parametrize(
    "name", ["test_x[a b]", "test_x[a::b]", "test_x[]", "test_x[a removed 2 module(s)]"]
)
def test_parameters_are_part_of_the_name(name):
    found = find(f"Failed: tests/a.py::{name} {MODULES}", name=name)
    assert found.leaks[0].test_nodeid == f"tests/a.py::{name}"


def test_a_path_with_blanks_must_be_the_cases_own():
    nodeid = "my tests/a.py::test_x"
    for carried, whole in ((nodeid, True), ("your tests/a.py::test_x", False)):
        found = Recognisers().find(
            f"{nodeid} {MODULES}", "", Carrier("test_x", carried)
        )
        assert (found is not None) is whole


def test_a_failure_beside_the_gates_is_the_cases_own():
    found = find("RuntimeError: no provider", body(SAID))
    assert (len(found.leaks), found.whole) == (1, False)
    both = f"{body('no provider', 'RuntimeError')}\n\n{body(SAID)}"
    assert find("", both).whole is False


FORMS = {
    "message": (GUARD, ""),
    "in one line": (" ".join(GUARD.splitlines()), ""),
    "typed": (f"Failed: {GUARD}", ""),
    "teardown": (f'failed on teardown with "Failed: {GUARD}"', ""),
    "body": ("", body(GUARD)),
    "both": (f"Failed: {GUARD}", body(GUARD)),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_session_guard_is_one_leak_an_entry(name):
    found = find(*FORMS[name])
    assert found.whole is False
    assert [one.detail for one in found.leaks] == [
        EntryDetail("/board/jobs/7.json", "no agent_session", None, ""),
        EntryDetail(
            "/board/logs of/7",
            "audit log without a registry record",
            "a:'b",
            "it's\nme",
        ),
    ]
    assert {(one.test_nodeid, one.kind, one.raised) for one in found.leaks} == {
        (None, "control_plane.entry", True)
    }


@pytest.mark.parametrize(
    "text",
    [
        f"AssertionError: assert {GUARD!r} == ''",
        f"AssertionError: assert '{GUARD}' == ''",
        GUARD.replace("2 entries", "some entries"),
        GUARD.splitlines()[0],
        GUARD.partition("\n")[2],
        f"ValueError: x\n{GUARD}",
    ],
)
def test_a_quoted_session_guard_is_none(text):
    assert find(text) is None


def test_the_samples(shared):
    samples = shared / "samples"
    name = "test_json_log_drops_only_nudge_keeps_candidate"
    found = find((samples / "gate-sys-modules.txt").read_text(), name=name)
    assert (found.leaks[0].item_count, found.whole) == (59, True)
    assert find((samples / "gate-sys-modules.txt").read_text()) is None
    guard = find((samples / "gate-state-guard.txt").read_text())
    assert [one.detail.agent_session for one in guard.leaks] == [
        None,
        None,
        "herdr:creator-2",
    ]


OWN = OwnPattern(
    "threads",
    "threads.alive",
    r"(?P<test>\S+) left (?P<count>\d+) threads?: (?P<items>[\w, -]+)",
)


def test_an_own_pattern_names_test_items_and_count():
    found = find(f"Failed: {NODEID} left 4 threads: pool-1, pool-2", own=[OWN])
    [leak] = found.leaks
    assert (leak.test_nodeid, leak.items, leak.item_count, leak.kind, leak.gate) == (
        NODEID,
        ("pool-1", "pool-2"),
        4,
        "threads.alive",
        "threads",
    )
    assert found.whole


@pytest.mark.parametrize(
    "message",
    [
        f"AssertionError: assert '{NODEID} left 4 threads: a'",
        "Failed: tests/a.py::test_other left 4 threads: a",
        f"ValueError: saw {NODEID} left 4 threads: a",
    ],
)
def test_an_own_pattern_keeps_silent_on_quotes(message):
    assert find(message, own=[OWN]) is None


def test_an_own_pattern_without_a_test_means_the_carrier_or_the_session():
    for session, nodeid in ((False, NODEID), (True, None)):
        own = OwnPattern("t", "tmp.left", r"left (?P<items>/tmp/\S+)", session=session)
        found = find("Failed: left /tmp/x.1", own=[own])
        assert [one.test_nodeid for one in found.leaks] == [nodeid]
        assert found.whole is not session


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("", "empty"),
        ("(", "no regular expression"),
        ("(?P<who>x)", "unknown group 'who'"),
        ("x" * 1_001, "longer"),
    ],
)
def test_a_bad_pattern_says_why(pattern, words):
    with pytest.raises(PatternError, match=words):
        compiled(OwnPattern("a", "b", pattern))


SLOW = OwnPattern("slow", "a.b", r"(?:a|aa)+$")


def test_a_slow_pattern_is_cut_off_and_told():
    patterns = OwnPatterns([SLOW], per_text=0.001)
    table = Recognisers(patterns)
    for _ in range(5):
        assert table.find("a" * 5_000 + "b", "", Carrier(NAME)) is None
    [note] = patterns.notes()
    assert note.code == "recogniser-too-slow"
    assert "'slow' took longer than 1 ms on 3 texts" in note.message


def test_a_used_up_budget_is_told():
    patterns = OwnPatterns([OWN], per_upload=0.0)
    assert Recognisers(patterns).find(f"{NODEID} left", "", Carrier(NAME)) is None
    assert [note.code for note in patterns.notes()] == ["recogniser-budget"]


def test_a_broken_pattern_does_no_harm():
    patterns = OwnPatterns([OwnPattern("bad", "a", "("), OWN])
    table = Recognisers(patterns)
    assert table.find(f"{NODEID} left 1 thread: a", "", Carrier(NAME, NODEID)).whole
    assert [note.code for note in patterns.notes()] == ["recogniser-broken"]


@pytest.mark.parametrize(
    "hostile",
    [
        " " * 60_000 + "sys.modules",
        "removed 1 module(s) from sys.modules " * 1_700,
        "E   A: " * 9_000 + "sys.modules",
        "E   A: x\n" * 7_000 + "sys.modules",
        "1 entries: " * 5_000 + "agent_session=",
        "1 entries:\n" + "[x] agent_session='" * 3_000,
        "1 entries:\n" + "  /a  [x]  agent_session=None  prompt=''\n" * 1_500,
        '"' * 30_000 + "\\" * 30_000 + "agent_session= sys.modules",
    ],
)
def test_hostile_texts_end(hostile):
    """In milliseconds; what takes quadratic time ends with the test's time limit."""
    found = find(hostile, hostile)
    assert found is None or not found.whole


@given(st.text(alphabet="aE :.\n'\"[]=1,()\\", max_size=300), st.integers(0, 300))
def test_noise_around_a_text_never_breaks(noise, at):
    for core in (SAID, GUARD):
        text = noise[:at] + core + noise[at:]
        found = find(text, text)
        assert found is None or found.leaks
