"""What protects the reader: bounds, refused declarations, flat memory, any bytes."""

from __future__ import annotations

import gzip
import io
import re
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.junit import read_junit
from formats.limits import Limits
from formats.report import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

CASE = "<testcase classname='c' name='n' time='1'/>"


def refused(xml: bytes | str, **limits: int) -> Rejected:
    data = xml if isinstance(xml, bytes) else xml.encode()
    with pytest.raises(Rejected) as caught:
        read_junit(io.BytesIO(data), limits=Limits(**limits))
    return caught.value


# Declarations

BOMB = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE testsuites>",
        '<!DOCTYPE testsuites SYSTEM "http://127.0.0.1:9/x.dtd">',
        f'<!DOCTYPE testsuites [<!ENTITY l0 "lol">{BOMB}]>',
        '<!DOCTYPE testsuites [<!ENTITY % x SYSTEM "file:///etc/hosts"> %x;]>',
    ],
)
@pytest.mark.parametrize("before", ["", "log\n", "\x01<?xml version='1.0'?>"])
def test_document_types_and_entities_are_refused(doctype, before):
    xml = f"{before}{doctype}<testsuites><testsuite name='&l9;'/></testsuites>"
    rejected = refused(xml)
    assert rejected.message == "DTD/entity declarations are not allowed"
    assert rejected.line
    assert rejected.column


def test_an_included_file_is_inert():
    xml = '<testsuite xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/hosts" parse="text"/><testcase name="a"/></testsuite>'
    reading = read_junit(io.BytesIO(xml.encode()))
    assert [e.name for e in reading.elements] == ["a"]


# Bounds


@pytest.mark.parametrize(
    ("xml", "limits", "message"),
    [
        ("<testsuite>" * 20, {"depth": 10}, "nested deeper than 10"),
        ("<testsuite><testcase>" + "<a>" * 20, {"depth": 10}, "nested deeper than 10"),
        ("<testsuite>" + "<a>" * 20, {"depth": 10}, "nested deeper than 10"),
        (f"<testsuite>{CASE * 20}</testsuite>", {"cases": 10}, "more than 10 cases"),
        (f"<testsuite><testcase name='{'n' * 20}'/></testsuite>", {"name": 10}, "a test name is longer than 10"),
        (f"<testsuite><testcase classname='{'c' * 20}' name='n' time='1'/></testsuite>", {"name": 10}, "a class name is longer than 10"),
        (f"<testsuite><x a='{'v' * 300_000}'/></testsuite>", {"token": 100_000}, "longer than 100,000 bytes"),
        (f"<testsuite><!--{'v' * 300_000}--></testsuite>", {"token": 100_000}, "longer than 100,000 bytes"),
        ("<testsuite>" + "&" * 9000, {"repairs": 100}, "too much of the markup is not XML"),
        ("<testsuite/>" * 20, {"documents": 10}, "more than 10 documents"),
    ],
)  # fmt: skip
def test_what_is_too_much_is_refused(xml, limits, message):
    rejected = refused(xml, **limits)
    assert message in rejected.message
    assert rejected.line is not None or "documents" in limits


def test_a_packed_file_that_unpacks_to_too_much():
    packed = gzip.compress(b"<testsuite>" + b" " * 100_000)
    assert (
        "unpacks to more than 50,000 bytes" in refused(packed, unpacked=50_000).message
    )


def test_two_hundred_nested_suites_are_read():
    xml = "<testsuite>" * 200 + CASE + "</testsuite>" * 200
    reading = read_junit(io.BytesIO(xml.encode()))
    assert (reading.reported.tests, reading.suites) == (1, 200)


def test_names_that_share_a_long_beginning_stay_whole():
    names = [("n" * 5000) + end for end in ("a", "b")]
    cases = "".join(f"<testcase name='{name}'/>" for name in names)
    reading = read_junit(io.BytesIO(f"<testsuite>{cases}</testsuite>".encode()))
    assert [e.name for e in reading.elements] == names


# Memory


class Pieces(io.RawIOBase):
    """A seekable file that is made while it is read."""

    def __init__(self, head: bytes, block: bytes, times: int, tail: bytes) -> None:
        self._parts = (head, block, times, tail)
        self._left = b""
        self._made = self._make()

    def _make(self) -> Iterator[bytes]:
        head, block, times, tail = self._parts
        yield head
        for _ in range(times):
            yield block
        yield tail

    def seek(self, offset: int, whence: int = 0) -> int:
        self._made, self._left = self._make(), b""
        self.read(offset)
        return offset

    def read(self, size: int = -1) -> bytes:
        while len(self._left) < size:
            piece = next(self._made, None)
            if piece is None:
                break
            self._left += piece
        data, self._left = self._left[:size], self._left[size:]
        return data


HEAD = b"<testsuite><testcase name='a'><failure/><system-out>"
TAIL = b"</system-out></testcase></testsuite>"


@pytest.mark.parametrize(
    ("head", "block", "tail"),
    [
        (HEAD, b"one more line of output\n" * 4000, TAIL),
        (HEAD, b"\x1b[31mred &amp; \xc3\xa9\x1b[0m\n" * 5000, TAIL),
        (HEAD.replace(b"<failure/>", b""), b"quiet line of output\n" * 4000, TAIL),
        (b"", b"printed before the document\n" * 4000, HEAD + TAIL),
        (HEAD + TAIL, b"printed after the document\n" * 4000, b""),
        (HEAD + TAIL, b"\x00" * 100_000, b""),
    ],
)  # fmt: skip
def test_memory_is_flat_in_output(head, block, tail):
    stream = Pieces(head, block, 100, tail)  # some 10 MB
    tracemalloc.start()
    try:
        reading = read_junit(stream)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reading.reported.tests == 1
    assert len(reading.elements[0].text) < 70_000
    assert peak < 5 << 20


# Any bytes

SEEDS = (
    b"<?xml version='1.0' encoding='utf-8'?>\n<testsuites name='pytest tests'><testsuite"
    b" name='pytest' tests='3' time='1.5' timestamp='2025-03-01T10:00:00Z' hostname='h'>"
    b"<properties><property name='a' value='b'/></properties>"
    b"<testcase classname='a.b' name='n[\xc3\xa9]' time='0.5'/>"
    b"<testcase classname='a.b' name='m' time='1'><failure message='x &lt; y'><![CDATA[t]]>"
    b"</failure><system-out>&#27; o</system-out></testcase><error/>"
    b"<testcase name='s'><skipped/><flakyFailure/></testcase></testsuite></testsuites>\n",
    "<testsuite name='é'><testcase name='日本'/></testsuite>".encode("utf-16"),
    "log\n<testsuite name='é'>\x01<testcase name='a'/></testsuite>log".encode("cp1252"),
)
PATCHES = (
    *(b"", b"<", b">", b"&", b"&#0;", b"]]>", b"<![CDATA[", b"-->", b"<!--", b"\x00"),
    *(b"\xff", b"\xed\xa0\x80", b"'", b"<?", b"<testsuite>", b"</testsuite>", b"<?xml"),
    *(b"<!DOCTYPE x>", b"\xff\xfe", b"encoding='utf-16'", b"<testcase/>", b"\x1f\x8b"),
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        until = at + draw(st.integers(0, 12))
        patch = draw(st.one_of(st.sampled_from(PATCHES), st.binary(max_size=6)))
        data = data[:at] + patch + data[until:]
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")


def check(data: bytes) -> None:
    try:
        reading = read_junit(io.BytesIO(data))
    except Rejected:
        return
    reported = reading.reported
    listed = reported.passed + reported.failed + reported.errors + reported.skipped
    assert reported.tests == listed
    assert min(reported.passed, reported.failed, reported.errors, reported.skipped) >= 0
    assert len(reading.elements) == reported.tests + reading.suite_level_results
    for element in reading.elements:
        assert not ILLEGAL.search(element.name + element.message + element.text)


@settings(max_examples=400, deadline=None)
@given(damaged())
def test_damaged_reports_are_read_or_refused(data):
    check(data)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_read_or_refused(data):
    check(data)


def test_every_beginning_of_a_report_is_refused():
    whole = SEEDS[0].rstrip()
    for size in range(len(whole)):
        refused(whole[:size])
