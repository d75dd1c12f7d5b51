"""Multipart bodies: whole, cut at every byte, and strange."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.multiparts import MAX_PARTS, read_parts
from formats.unpacking import BodyError, Malformed, Unfit
from tests.sending import Upload

if TYPE_CHECKING:
    from collections.abc import Iterable

UPLOAD = Upload(
    context={"run": "7"},
    files=[
        ("junit", "a.xml", b"<a/>\r\n--a-boundary\r\n"),
        ("order", "", b""),
        ("auto", "b c.jsonl", b"\r\n\r\n"),
    ],
)
PARTS = [("context", "", b'{"run": "7"}'), *UPLOAD.files]


def read(blocks: Iterable[bytes], content_type: str = UPLOAD.content_type):
    return [
        (part.name, part.filename, b"".join(part.chunks()))
        for part in read_parts(blocks, content_type=content_type)
    ]


def test_the_parts_come_in_order_with_their_bytes():
    assert read([UPLOAD.body]) == PARTS


def test_where_the_blocks_are_cut_does_not_matter():
    body = UPLOAD.body
    assert read(bytes([byte]) for byte in body) == PARTS
    for at in range(len(body) + 1):
        assert read([body[:at], body[at:]]) == PARTS


def test_a_body_cut_before_its_last_boundary_is_malformed():
    body = UPLOAD.body
    whole = len(body) - len(b"\r\n")
    for end in range(whole):
        with pytest.raises(Malformed):
            read([body[:end]])
    assert read([body[:whole]]) == PARTS


def test_what_stands_behind_the_last_boundary_is_ignored_and_read():
    rest = iter([UPLOAD.body, b"\r\n", b"epilogue", b"more"])
    assert read(rest) == PARTS
    assert list(rest) == []


def test_a_preamble_is_ignored():
    assert read([b"for old mail readers\r\n", UPLOAD.body]) == PARTS


def test_a_part_that_nobody_takes_is_skipped():
    names = [
        p.name for p in read_parts([UPLOAD.body], content_type=UPLOAD.content_type)
    ]
    assert names == ["context", "junit", "order", "auto"]


@given(
    contents=st.lists(st.binary(max_size=300), min_size=1, max_size=4),
    step=st.integers(1, 200),
)
def test_any_content_comes_back(contents: list[bytes], step: int):
    upload = Upload(files=[("junit", f"{n}", c) for n, c in enumerate(contents)])
    body = upload.body
    blocks = [body[at : at + step] for at in range(0, len(body), step)]
    assert read(blocks) == upload.files


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        f"multipart/form-data; boundary={'x' * 201}",
        f"multipart/form-data; boundary=x; y={'x' * 300}",
        "multipart/mixed; boundary=a-boundary-of-ours",
        "multipart/form-data; boundary=another",
    ],
)
def test_another_content_type_is_malformed(content_type: str):
    with pytest.raises(Malformed):
        read([UPLOAD.body], content_type)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"Content-Type: text/plain",
        b"Content-Disposition: attachment; name=junit",
        b"Content-Disposition: form-data",
        b'Content-Disposition: form-data; name=""',
        b"no header at all",
        b'Content-Disposition: form-data; name="\xff\xfe"',
        b"Content-Disposition: form-data; name=a\r\nContent-Length: 5",
        b"Content-Disposition: form-data; name=a\r\nContent-Length: many",
        b"X: " + b"x" * 5_000,
        b"X: y\r\n" * 20 + b"Z: z",
    ],
)
def test_a_part_with_an_unfit_head_is_malformed(head: bytes):
    body = b"--a-boundary-of-ours\r\n" + head + b"\r\n\r\nxyz\r\n--a-boundary-of-ours--"
    with pytest.raises(Malformed):
        read([body])


def test_too_many_parts_are_unfit():
    files = [("junit", "", b"")] * MAX_PARTS
    assert len(read([Upload(files=files).body])) == MAX_PARTS
    with pytest.raises(Unfit):
        read([Upload(files=[*files, ("junit", "", b"")]).body])


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes):
    prefix = b"--a-boundary-of-ours\r\nContent-Disposition: form-data; name=a\r\n"
    for body in (data, prefix + data, UPLOAD.body[:200] + data):
        try:
            read([body])
        except BodyError as error:
            assert error.status in (400, 422)  # noqa: PT017 - either way is fine


def test_a_large_part_passes_in_flat_memory():
    head, _, tail = Upload(files=[("junit", "a", b"@")]).body.partition(b"@")

    def blocks():
        yield head
        for _ in range(2_000):
            yield bytes(64 * 1024)
        yield tail

    tracemalloc.start()
    try:
        parts = read_parts(blocks(), content_type=UPLOAD.content_type)
        size = sum(len(chunk) for part in parts for chunk in part.chunks())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 2_000 * 64 * 1024
    assert peak < 2 * 2**20
