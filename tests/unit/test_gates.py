"""Gates' payloads: what is read, and the place of everything that is wrong."""

from __future__ import annotations

import gzip
import io
import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from formats.gates import MOST_ITEMS, EntryDetail, LeakFact, read_gate
from formats.report import Rejected


def read(value):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return read_gate(io.BytesIO(raw))


def payload(*leaks, **fields):
    return {
        "schema": "healthboard.gate/1",
        "gate": "env",
        "leaks": list(leaks),
    } | fields


def entry(**fields):
    return {"path": "/board/jobs/7.json", "reason": "no agent_session"} | fields


def test_every_field_of_a_leak():
    reading = read(
        payload(
            {
                "test": "tests/test_a.py::test_x[1 2]",
                "kind": "env.set",
                "items": ["HOME", "LANG"],
                "item_count": 7,
                "worker": "gw1",
                "position": 12,
                "phase": "teardown",
                "message": "left HOME behind\nand LANG",
                "recipe": "use monkeypatch",
                "enforced": False,
                "opted_out": True,
            }
        )
    )
    assert reading.notes == []
    assert reading.leaks == [
        LeakFact(
            test_nodeid="tests/test_a.py::test_x[1 2]",
            kind="env.set",
            gate="env",
            items=("HOME", "LANG"),
            item_count=7,
            phase="teardown",
            worker="gw1",
            position=12,
            enforced=False,
            opted_out=True,
            message="left HOME behind\nand LANG",
            recipe="use monkeypatch",
        )
    ]


def test_what_is_left_out_has_its_default():
    [leak] = read(payload({"kind": "cwd.changed", "items": ["a"], "test": None})).leaks
    assert leak == LeakFact(None, "cwd.changed", gate="env", items=("a",), item_count=1)
    assert leak.raised


@pytest.mark.parametrize(
    ("fields", "raised"),
    [
        ({}, True),
        ({"enforced": False}, False),
        ({"opted_out": True}, False),
        ({"enforced": False, "opted_out": True}, False),
    ],
)
def test_only_an_enforced_leak_without_opt_out_is_raised(fields, raised):
    [leak] = read(payload({"kind": "env.set"} | fields)).leaks
    assert leak.raised is raised


@pytest.mark.parametrize("kind", ["gpu.memory", "x", "a.b.c", "effect.unjustified"])
def test_unknown_kinds_are_kept(kind):
    [leak] = read(payload({"kind": kind, "of_the_future": {"a": 1}})).leaks
    assert leak.kind == kind


def test_a_state_guards_list():
    leaks = read([entry(agent_session="s-1", prompt="say hi"), entry()]).leaks
    assert [one.detail for one in leaks] == [
        EntryDetail("/board/jobs/7.json", "no agent_session", "s-1", "say hi"),
        EntryDetail("/board/jobs/7.json", "no agent_session"),
    ]
    assert {
        (one.kind, one.test_nodeid, one.items, one.item_count) for one in leaks
    } == {("control_plane.entry", None, ("/board/jobs/7.json",), 1)}


def test_empty_lists_are_no_leaks():
    assert read([]).leaks == read(payload()).leaks == []


WRONG = {
    "empty": (b" \n", "", "the file is empty"),
    "no JSON": (b"{", "", "not JSON"),
    "cut off": (b'{"schema": "healthboard.gate/1", "lea', "", "not JSON"),
    "not UTF-8": (b'{"schema": "\xff"}', "", "utf-8"),
    "a number": (b"3", "", "must be an object or a list"),
    "deep": (b"[" * 100_000, "", "nested too deeply"),
    "no schema": ({"leaks": []}, "schema", "missing"),
    "unknown schema": (payload(schema="healthboard.gate/2"), "schema", "must be"),
    "schema no text": (payload(schema=["healthboard.gate/1"]), "schema", "must be"),
    "no leaks": ({"schema": "healthboard.gate/1"}, "leaks", "missing"),
    "leaks no list": (payload() | {"leaks": {}}, "leaks", "must be a list"),
    "too many": (payload(*[{"kind": "a"}] * 10_001), "leaks", "more than 10,000 leaks"),
    "gate no text": (payload(gate=3), "gate", "must be a text"),
    "leak no object": (payload({"kind": "a"}, 3), "leaks[1]", "must be an object"),
    "no kind": (payload({"test": "a"}), "leaks[0].kind", "missing"),
    "kind null": (payload({"kind": None}), "leaks[0].kind", "missing"),
    "kind empty": (payload({"kind": " "}), "leaks[0].kind", "must not be empty"),
    "kind no text": (payload({"kind": 1}), "leaks[0].kind", "must be a text"),
    "negative": (
        payload(*[{"kind": "a"}] * 3, {"kind": "a", "item_count": -1}),
        "leaks[3].item_count",
        "must be 0 to",
    ),
    "count no number": (
        payload({"kind": "a", "item_count": "3"}),
        "leaks[0].item_count",
        "must be an integer",
    ),
    "count true": (
        payload({"kind": "a", "item_count": True}),
        "leaks[0].item_count",
        "must be an integer",
    ),
    "count too small": (
        payload({"kind": "a", "items": ["x", "y"], "item_count": 1}),
        "leaks[0].item_count",
        "1, although items has 2",
    ),
    "count huge": (
        payload({"kind": "a", "item_count": 2**31}),
        "leaks[0].item_count",
        "must be 0 to",
    ),
    "items no list": (payload({"kind": "a", "items": "x"}), "leaks[0].items", "a list"),
    "item no text": (
        payload({"kind": "a", "items": ["x", None]}),
        "leaks[0].items[1]",
        "must be a text",
    ),
    "test empty": (payload({"kind": "a", "test": ""}), "leaks[0].test", "empty"),
    "position": (
        payload({"kind": "a", "position": -1}),
        "leaks[0].position",
        "must be",
    ),
    "enforced": (payload({"kind": "a", "enforced": 1}), "leaks[0].enforced", "true or"),
    "message": (payload({"kind": "a", "message": []}), "leaks[0].message", "a text"),
    "key twice": (
        b'{"schema": "healthboard.gate/1", "leaks": [], "leaks": []}',
        "leaks",
        "twice",
    ),
    "entry no object": ([entry(), "x"], "[1]", "must be an object"),
    "entry without path": ([{"reason": "r"}], "[0].path", "missing"),
    "entry without reason": ([entry(), {"path": "p"}], "[1].reason", "missing"),
    "entry's session": ([entry(agent_session=3)], "[0].agent_session", "a text"),
    "too many entries": ([entry()] * 10_001, "", "more than 10,000 leaks"),
    "damaged gzip": (gzip.compress(b"[]")[:-5], "", "damaged gzip"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_has_its_path(name):
    value, path, words = WRONG[name]
    with pytest.raises(Rejected) as refused:
        read(value)
    assert (refused.value.path or "") == path
    assert words in refused.value.message
    assert refused.value.message.startswith(f"{path}: " if path else "")


def test_ten_thousand_leaks_are_not_too_many():
    assert len(read(payload(*[{"kind": "a"}] * 10_000)).leaks) == 10_000


def test_of_many_items_the_first_are_kept_and_all_counted():
    reading = read(payload({"kind": "a", "items": [str(n) for n in range(1_500)]}))
    [leak] = reading.leaks
    assert (len(leak.items), leak.item_count) == (MOST_ITEMS, 1_500)
    assert [note.code for note in reading.notes] == ["items-left-out"]


@pytest.mark.parametrize(
    "pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"]
)
def test_packed_files_are_read(pack):
    raw = json.dumps(payload({"kind": "env.set"})).encode()
    assert read(pack(raw)) == read(raw)


@pytest.mark.parametrize("bad", ["\0", "\ud800"])
def test_what_no_database_stores_is_replaced(bad):
    fields = dict.fromkeys(("kind", "test", "message", "recipe", "gate"), f"a{bad}b")
    [leak] = read(payload(fields | {"items": [f"a{bad}b"]})).leaks
    texts = (leak.kind, leak.test_nodeid, leak.message, leak.recipe, leak.gate)
    assert {*texts, *leak.items} == {"a\N{REPLACEMENT CHARACTER}b"}


def test_the_sample(shared):
    leaks = read((shared / "samples" / "state-guard.json").read_bytes()).leaks
    assert [one.detail.path.rpartition("/")[2] for one in leaks] == [
        "job-31",
        "job-17.json",
        "job-18.json",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["kind", "test", "items", "item_count", "path", "reason"])
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


def outcome_of(value):
    """The reading, or what it was rejected for."""
    try:
        return read(value), None
    except Rejected as refused:
        return None, refused


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_rejected(raw):
    reading, refused = outcome_of(raw)
    assert reading is not None or refused.message


@given(st.lists(JSON, max_size=4))
def test_any_structure_is_read_or_rejected_with_its_path(leaks):
    for value in (payload() | {"leaks": leaks}, leaks):
        reading, refused = outcome_of(value)
        if refused is not None:
            assert refused.message.startswith(refused.path or "not JSON")
            continue
        assert len(reading.leaks) == len(leaks)
        assert all(one.kind for one in reading.leaks)
        assert all(one.item_count >= len(one.items) for one in reading.leaks)
