"""The kind of a file, told from its content."""

from __future__ import annotations

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from formats.detection import HEAD, KINDS, detect

CONTENT = {
    "junit": [
        b'<?xml version="1.0"?><testsuites/>',
        b"\xef\xbb\xbf<testsuite name='x'>",
        b"noise before\n<testsuites>",
        b"<j:testsuite xmlns:j='x'>",
        "<?xml version='1.0' encoding='utf-16'?><testsuite/>".encode("utf-16"),
        "<testsuite/>".encode("utf-16-le"),
        b"<!DOCTYPE x><html>",
    ],
    "reportlog": [
        b'{"pytest_version": "8.4.2", "$report_type": "SessionStart"}\n{"a": 1}\n',
        b'{"nodeid": "a", "$report_type": "TestReport"}',
        b'{"$report_type": "TestReport", "longrepr": "' + b"x" * (HEAD * 2),
    ],
    "order": [
        b'{"v": 1, "test": "a", "worker": "gw0", "pid": 1, "position": 0, '
        b'"outcome": "passed"}\n',
        b'{"v": 2, "test": "a", "outcome": "passed", "pid": 3}\nnonsense',
    ],
    "gate": [
        b'{"schema": "healthboard.gate/1", "gate": "env", "leaks": []}',
        b'{\n "schema": "healthboard.gate/7"\n}',
        b'{"schema": "healthboard.gate/1", "leaks": [' + b"1," * HEAD,
        b'[{"path": "a", "reason": "b"}]',
        b"[]",
    ],
    "effects": [
        b'{"v": 1, "type": "claim", "record": {}}\n{"v": 1, "type": "outcome"}\n',
    ],
    "review": [
        b"## FleetReview of #5\n",
        "Confidence: 2/5\n\n• P0 a.py:3 — broken".encode(),
        b"- **P1** `a.py:3` - broken",
        b'{"schema": "healthboard.review/1", "findings": []}',
        b'{"$schema": "https://example.org/sarif.json", "version": "2.1.0", "runs": []}',
    ],
}
CASES = [(kind, raw) for kind, raws in CONTENT.items() for raw in raws]


@pytest.mark.parametrize(("kind", "raw"), CASES, ids=range(len(CASES)))
def test_content_decides_whatever_the_name(kind, raw):
    assert detect(raw, "file.xml" if kind != "junit" else "order.jsonl") == kind


@pytest.mark.parametrize(
    "pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"]
)
def test_compressed_content_is_told_too(pack):
    raw = CONTENT["order"][0] * 10_000

    assert detect(pack(raw)[:HEAD], "x") == "order"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("junit.xml", "junit"),
        ("a/b/JUNIT.XML.gz", "junit"),
        ("order-gw0.jsonl", "order"),
        ("reportlog.jsonl.zst", "reportlog"),
        ("gate.json", "gate"),
        ("effects.jsonl", "effects"),
        ("x.sarif", "review"),
        ("notes.txt", ""),
        ("", ""),
    ],
)
def test_name_decides_where_content_says_nothing(name, kind):
    assert detect(b"", name) == kind


@pytest.mark.parametrize(
    "raw", [b'{"a": 1}', b"[1, 2]", b"{", b"plain text", b"\x1f\x8bx"]
)
def test_other_content_is_no_kind(raw):
    assert detect(raw, "file") == ""


@given(st.binary(max_size=300), st.text(max_size=20))
def test_any_bytes_are_a_kind_or_none(raw, name):
    assert detect(raw, name) in ("", *KINDS)
