"""The context of an upload: every field, every refusal."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.context import (
    Context,
    ContextError,
    ProtocolError,
    Shard,
    matches_commit,
    read_context,
)


def read(**fields: object) -> Context:
    return read_context(json.dumps(fields).encode())


def refuse(raw: bytes) -> ContextError:
    with pytest.raises(ContextError) as caught:
        read_context(raw)
    return caught.value


def test_context_reads_every_field():
    context = read(
        project="acme/app",
        run="github-7211",
        attempt=2,
        job="unit",
        shard={"index": 2, "count": 4},
        environment={"os": "linux", "python": "3.12"},
        branch="feature",
        commit="c0ffee1",
        head_sha="abc",
        base_sha="def",
        committed_at="2025-03-01T10:00:00+02:00",
        started_at="2025-03-01t10:00:00.25z",
        pr=538,
        base_branch="main",
        merge_base="0a",
        ancestry=["1", "2"],
        ci_url="https://ci.example/1?x=1#y",
        exit_code=-11,
        complete=False,
        test="tests/a.py::test_a",
        client="healthboard/1.0",
        protocol=1,
    )

    assert context == Context(
        project="acme/app",
        run="github-7211",
        attempt=2,
        job="unit",
        shard=Shard(index=2, count=4),
        environment={"os": "linux", "python": "3.12"},
        branch="feature",
        commit="c0ffee1",
        head_sha="abc",
        base_sha="def",
        committed_at=datetime(2025, 3, 1, 8, tzinfo=UTC),
        started_at=datetime(2025, 3, 1, 10, 0, 0, 250_000, tzinfo=UTC),
        pr=538,
        base_branch="main",
        merge_base="0a",
        ancestry=("1", "2"),
        ci_url="https://ci.example/1?x=1#y",
        exit_code=-11,
        complete=False,
        test="tests/a.py::test_a",
        client="healthboard/1.0",
        protocol=1,
    )


def test_context_without_fields_has_defaults():
    context = read()

    assert context == Context()
    assert context.shard == Shard(index=1, count=1)
    assert context.attempt == 1
    assert context.complete is True


def test_null_is_the_same_as_nothing():
    fields = dict.fromkeys(Context.__dataclass_fields__)

    assert read(**fields) == Context()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"projekt": "a/b"}, "projekt"),
        ({"project": "acme"}, "project"),
        ({"project": "a/b/c"}, "project"),
        ({"project": 3}, "project"),
        ({"run": "a\u0000b"}, "run"),
        ({"run": "a\nb"}, "run"),
        ({"run": "x" * 1_001}, "run"),
        ({"run": 7}, "run"),
        ({"attempt": 0}, "attempt"),
        ({"attempt": True}, "attempt"),
        ({"attempt": 1.0}, "attempt"),
        ({"attempt": "1"}, "attempt"),
        ({"attempt": 2**31}, "attempt"),
        ({"shard": 2}, "shard"),
        ({"shard": {"index": 1}}, "shard.count"),
        ({"shard": {"count": 1}}, "shard.index"),
        ({"shard": {"index": 0, "count": 4}}, "shard.index"),
        ({"shard": {"index": 5, "count": 4}}, "shard.index"),
        ({"shard": {"index": 1, "count": 0}}, "shard.count"),
        ({"shard": {"index": 1, "count": 1, "of": 2}}, "shard.of"),
        ({"environment": ["linux"]}, "environment"),
        ({"environment": {"os": {"name": "linux"}}}, "environment.os"),
        ({"environment": {"os": None}}, "environment.os"),
        ({"environment": {"os": "a\tb"}}, "environment.os"),
        ({"environment": {str(i): "" for i in range(51)}}, "environment"),
        ({"commit": ""}, "commit"),
        ({"commit": "a" * 65}, "commit"),
        ({"commit": "a b"}, "commit"),
        ({"head_sha": "é"}, "head_sha"),
        ({"ancestry": "abc"}, "ancestry"),
        ({"ancestry": ["ok", "not ok"]}, "ancestry[1]"),
        ({"ancestry": ["a"] * 2_001}, "ancestry"),
        ({"started_at": "2025-03-01T10:00:00"}, "started_at"),
        ({"started_at": "2025-02-30T10:00:00Z"}, "started_at"),
        ({"started_at": "0001-01-01T00:00:00+23:59"}, "started_at"),
        ({"committed_at": 1740823200}, "committed_at"),
        ({"pr": 0}, "pr"),
        ({"ci_url": "javascript:alert(1)"}, "ci_url"),
        ({"ci_url": "https://"}, "ci_url"),
        ({"exit_code": "1"}, "exit_code"),
        ({"complete": 1}, "complete"),
        ({"protocol": "1"}, "protocol"),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_wrong_field_is_a_422_that_names_it(fields, field):
    error = refuse(json.dumps(fields).encode())

    assert (error.status, error.field) == (422, field)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"{'project': 1}",
        b'{"project": "a/b",}',
        b'{"pr": NaN}',
        b'{"run": "a", "run": "a"}',
        b'{"shard": {"index": 1, "index": 1, "count": 1}}',
        b'{"run": "\xff"}',
        b"[" * 100_000,
        b'{"pr": ' + b"9" * 5_000 + b"}",
    ],
    ids=range(10),
)
def test_unreadable_context_is_a_400(raw):
    assert refuse(raw).status == 400


@pytest.mark.parametrize("raw", [b"[]", b"null", b'"text"', b"1"])
def test_context_that_is_no_object_is_a_422(raw):
    assert (refuse(raw).status, refuse(raw).field) == (422, "context")


def test_overlong_context_is_refused_unread():
    error = refuse(b'{"run": "' + b"x" * (1024 * 1024) + b'"}')

    assert (error.status, error.field) == (422, "context")


@pytest.mark.parametrize("sent", [0, 2, 10])
def test_other_protocol_is_a_400_naming_both_and_the_cure(sent):
    error = refuse(json.dumps({"protocol": sent, "new_key": 1}).encode())

    assert isinstance(error, ProtocolError)
    assert error.status == 400
    assert f"protocol {sent}" in error.message
    assert "protocol 1." in error.message
    assert "pip install --upgrade" in error.message


def test_environment_keeps_numbers_as_written():
    raw = b'{"environment": {"python": 3.10, "n": 4, "debug": true, "x": 1e3}}'

    assert read_context(raw).environment == {
        "python": "3.10",
        "n": "4",
        "debug": "true",
        "x": "1e3",
    }


def test_a_number_is_still_no_text_elsewhere():
    assert refuse(b'{"run": 3.10}').field == "run"


def test_byte_order_mark_is_no_fault():
    assert read_context(b'\xef\xbb\xbf{"run": "r"}').run == "r"


def test_head_is_the_commit_by_default():
    assert read(commit="a").head == "a"
    assert read(commit="a", head_sha="b").head == "b"


def test_canonical_is_one_spelling_of_one_meaning():
    first = read_context(
        b'{"environment": {"b": "1", "a": "2"}, "started_at": "2025-03-01T10:00:00Z"}'
    )
    second = read_context(
        b' {"started_at":"2025-03-01T12:00:00+02:00","attempt":1,"test":null,'
        b'"environment":{"a":"2","b":"1"}}'
    )
    other = read_context(b'{"environment": {"a": "2", "b": "2"}}')

    assert first.canonical() == second.canonical()
    assert first.environment_key == second.environment_key
    assert first.canonical() != other.canonical()
    assert first.environment_key != other.environment_key


@pytest.mark.parametrize(
    ("known", "asked", "same"),
    [
        ("c1", "c1", True),
        ("0123456789abcdef", "0123456", True),
        ("0123456789ABCDEF", "0123456789abc", True),
        ("0123456789abcdef", "012345", False),
        ("0123456789abcdef", "1234567", False),
        ("release-1", "release", False),
    ],
)
def test_commits_match_by_seven_or_more_hex_digits(known, asked, same):
    assert matches_commit(known, asked) is same


def judge(raw: bytes) -> Context | ContextError:
    try:
        return read_context(raw)
    except ContextError as error:
        return error


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(Context.__dataclass_fields__)), JSON))
def test_any_values_are_read_or_refused(fields):
    verdict = judge(json.dumps(fields).encode())

    if isinstance(verdict, Context):
        assert read_context(verdict.canonical()) == verdict
    else:
        assert verdict.status in (400, 422)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(raw):
    assert isinstance(judge(raw), Context | ContextError)
