"""The body of a webhook: bare or with a context, cut anywhere."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.payloads import read_payload
from formats.unpacking import BodyError, Malformed, Unfit

FORM = "application/x-www-form-urlencoded"


def read(raw: bytes, *, step: int = 0, name: str = "gate", content_type: str = ""):
    """Return the parts as {name: bytes}; `step` cuts the body into pieces."""
    cut = step or max(len(raw), 1)
    blocks = iter([raw[at : at + cut] for at in range(0, len(raw), cut)])
    parts = read_payload(
        blocks, name=name, filename="a.json", content_type=content_type
    )
    found = {part.name: b"".join(part.chunks()) for part in parts}
    assert next(blocks, None) is None, "the body was not read to its end"
    return found


def refused(raw: bytes, kind: type[BodyError], **options) -> BodyError:
    """The refusal of a body, which is the same wherever it is cut."""
    told = set()
    for step in (0, 1, 2, 3, 7):
        with pytest.raises(kind) as caught:
            read(raw, step=step, **options)
        told.add((caught.value.message, caught.value.field))
    assert len(told) == 1
    return caught.value


BARE = [
    b"",
    b"{}",
    b"[]",
    b"null",
    b"not json at all",
    b'{"schema": "healthboard.gate/1", "context": {}, "payload": 1}',
    b'{"v": 1}\n{"payload": 2}\n',
    b'"payload"',
    b'["payload"]',
    b"\xff\xfe{\x00",
    b" \n# A heading\n\n- P0 a.py:1 \xe2\x80\x94 it breaks\n",
    b'{"payload"',
    b"payload=%7B%7D",
]


@pytest.mark.parametrize("raw", BARE)
@pytest.mark.parametrize("step", [0, 1, 3])
def test_anything_else_is_the_payload_as_it_stands(raw, step):
    assert read(raw, step=step) == {"gate": raw}


VALUES = [
    (b'{"leaks": []}', b'{"leaks": []}'),
    (
        b'[{"path": "a}]", "reason": "\\"]"}, 1]',
        b'[{"path": "a}]", "reason": "\\"]"}, 1]',
    ),
    (b"{ }", b"{ }"),
    (b"12.5e3", b"12.5e3"),
    (b"true", b"true"),
    (b"null", b"null"),
    (b'""', b""),
    (b'"- P0 a.py:1 \\u2014 it\\n"', "- P0 a.py:1 — it\n".encode()),
    (b'"\\ud83d\\ude00\\uD83D\\uDE00"', "😀😀".encode()),
    (b'"\\ud83d"', "\ufffd".encode()),
    (b'"\\ud83dx\\ude00"', "\ufffdx\ufffd".encode()),
    (b'"\\"\\\\\\/\\b\\f\\n\\r\\t"', b'"\\/\b\f\n\r\t'),
    ('"ä€😀"'.encode(), "ä€😀".encode()),
    (b'{"a": "\\\\"}', b'{"a": "\\\\"}'),
]


@pytest.mark.parametrize(("value", "payload"), VALUES)
@pytest.mark.parametrize("step", [0, *range(1, 14)])
def test_a_payload_is_unwrapped_before_and_behind_its_context(value, payload, step):
    context = b'{"run": "a \\"}\\" b", "environment": {"os": "x"}}'
    for raw in (
        b'{"context": ' + context + b', "payload": ' + value + b"}",
        b'\xef\xbb\xbf\n{"payload" :' + value + b' ,\t"context":' + context + b"}\r\n",
    ):
        assert read(raw, step=step) == {"context": context, "gate": payload}
    assert read(b'{"payload":' + value + b"}", step=step) == {"gate": payload}


def test_what_is_wrong_inside_a_value_is_left_to_its_reader():
    assert read(b'{"payload": {"a" 1 ]}') == {"gate": b'{"a" 1 ]'}


@pytest.mark.parametrize(
    "raw",
    [
        b'{"context": {"run": "1"',
        b'{"context": {"run": "1"}',
        b'{"context": {}, "payload": ',
        b'{"context": {}, "payload": "abc',
        b'{"context": {}, "payload": "abc\\',
        b'{"context": {}, "payload": "abc\\u12',
        b'{"context": {}, "payload": "\\x"}',
        b'{"context": {}, "payload": "\\u12g4"}',
        b'{"context": {}, "payload": "a\nb"}',
        b'{"context": {}, "payload": {"a": "b',
        b'{"context": {}, "payload": 1',
        b'{"context": {}, "payload": }',
        b'{"context": {}, "payload" 1}',
        b'{"context": {}, payload: 1}',
        b'{"context": {} "payload": 1}',
        b'{"payload": 1, "payload": 2}',
        b'{"payload": 1} {"payload": 2}',
        b'{"payload": 1},',
        b'{"payload": 1,}',
    ],
)
def test_a_wrapper_that_is_no_json_is_malformed(raw):
    assert "JSON" in refused(raw, Malformed).message or b"2}" in raw


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"context": {}}', "payload"),
        (b'{"payload": {}, "extra": 1}', "extra"),
        (b'{"context": {}, "Payload": 1}', "Payload"),
    ],
)
def test_another_key_and_a_missing_one_are_named(raw, field):
    assert refused(raw, Unfit).field == field


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ),
    st.integers(1, 40),
    st.booleans(),
)
def test_any_value_comes_out_as_it_went_in(value, step, ascii_only):
    raw = json.dumps({"payload": value}, ensure_ascii=ascii_only)
    text = raw.encode("utf-8", "replace")
    found = read(text, step=step)["gate"]
    if isinstance(value, str):
        assert found == value.encode("utf-8", "replace")
    else:
        assert json.loads(found) == json.loads(text)["payload"]


@given(st.binary(max_size=60), st.integers(1, 9))
def test_no_bytes_do_harm(noise, step):
    for raw in (noise, b'{"payload":' + noise, b'{"context":' + noise):
        try:
            whole = read(raw)
        except BodyError as error:
            with pytest.raises(type(error)):
                read(raw, step=step)
        else:
            assert read(raw, step=step) == whole


@pytest.mark.parametrize("step", [0, 1, 2, 5])
def test_a_form_of_github_is_unpacked(step):
    sent = json.dumps({"zen": "50% + more & ä", "n": "a=b"}, ensure_ascii=False)
    raw = urlencode({"payload": sent}).encode()
    options = {"step": step, "name": "github", "content_type": f"{FORM}; charset=utf-8"}
    assert read(raw, **options) == {"github": sent.encode()}
    assert read(raw + b"&x=%", **options) == {"github": sent.encode()}
    assert read(sent.encode(), **options) == {"github": sent.encode()}


def test_a_form_without_its_field_is_refused():
    options = {"name": "github", "content_type": FORM}
    for raw in (b"", b"zen=x", b"a=1&payload=%7B%7D"):
        assert refused(raw, Unfit, **options).field == "payload"


def test_a_form_elsewhere_is_what_a_tool_says_by_default():
    assert read(b'{"leaks": []}', content_type=FORM) == {"gate": b'{"leaks": []}'}


@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=x", "x" * 301])
def test_what_no_payload_comes_in_is_refused(kind):
    with pytest.raises(Malformed) as caught:
        read(b"{}", content_type=kind)
    assert caught.value.field == "Content-Type"


def test_a_large_string_passes_in_pieces():
    block = b"\\n\\u00e4 text " * 10_000
    blocks = [b'{"payload": "', *[block] * 40, b'"}']
    largest = total = 0
    for part in read_payload(blocks, name="review", filename="", content_type=""):
        for chunk in part.chunks():
            largest, total = max(largest, len(chunk)), total + len(chunk)
    assert total == 40 * 10_000 * len("\nä text ".encode())
    assert largest <= len(block)
