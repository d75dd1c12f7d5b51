"""`healthboard.review/1`: strict, and each refusal names its value."""

from __future__ import annotations

import gzip
import io
import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from formats.report import Rejected
from formats.reviews.json_review import read_json
from formats.reviews.reading import read_review
from formats.reviews.review import (
    MOST_BYTES,
    MOST_FINDINGS,
    MOST_TITLE,
    Confidence,
    Finding,
    Provenance,
    Review,
    Severity,
)

FINDING = {
    "severity": "P0",
    "path": "app/loop.py",
    "line": 108,
    "end_line": None,
    "title": "Retries for ever",
    "detail": "Two lines\nof detail",
    "reviewer": "B",
    "rule": "loops",
}
DOCUMENT = {
    "schema": "healthboard.review/1",
    "pr": 538,
    "commit": "1677b9d",
    "confidence": {"score": 2, "of": 5},
    "findings": [FINDING],
    "provenance": {
        "models": {"B": "large"},
        "cost_usd": 13.65,
        "duration_s": 1348,
        "rounds": 1,
        "files_examined": 5,
    },
}


def read(document):
    return read_json(json.dumps(document).encode())


def finding(**changes):
    return {**DOCUMENT, "findings": [{**FINDING, **changes}]}


def test_whole_document_is_read():
    assert read(DOCUMENT) == Review(
        (
            Finding(
                Severity.P0,
                "app/loop.py",
                "Retries for ever",
                108,
                detail="Two lines\nof detail",
                reviewers=("B",),
                rule="loops",
            ),
        ),
        Confidence(2, 5),
        Provenance({"B": "large"}, 13.65, 1348, 1, 5),
        pr=538,
        commit="1677b9d",
    )


def test_smallest_document_is_a_complete_review():
    review = read({"schema": "healthboard.review/1", "findings": []})

    assert review == Review(())
    assert review.complete


def test_smallest_finding_has_no_reviewer_and_no_line():
    entry = {"severity": "P3", "path": "a.py", "title": "t"}
    review = read({**DOCUMENT, "findings": [entry]})

    assert review.findings == (Finding(Severity.P3, "a.py", "t"),)


def test_partial_review_is_not_complete():
    assert not read({**DOCUMENT, "partial": True}).complete
    assert read({**DOCUMENT, "partial": False}).complete


@pytest.mark.parametrize("key", ["line", "end_line", "detail", "reviewer", "rule"])
def test_null_is_not_stated(key):
    whole = {**FINDING, "line": None} if key == "end_line" else FINDING
    entry = {**whole, key: None}
    without = {name: value for name, value in entry.items() if name != key}

    assert read({**DOCUMENT, "findings": [entry]}) == read(
        {**DOCUMENT, "findings": [without]}
    )


WRONG = [
    ({**DOCUMENT, "schema": "healthboard.review/2"}, "schema"),
    ({**DOCUMENT, "schema": 1}, "schema"),
    ({"findings": []}, "schema"),
    ({"schema": "healthboard.review/1"}, "findings"),
    ({**DOCUMENT, "extra": 1}, "extra"),
    ({**DOCUMENT, "findings": {}}, "findings"),
    ({**DOCUMENT, "findings": [FINDING] * (MOST_FINDINGS + 1)}, "findings"),
    ({**DOCUMENT, "findings": [FINDING, 3]}, "findings[1]"),
    ({**DOCUMENT, "findings": [FINDING, {**FINDING, "line": "3"}]}, "findings[1].line"),
    (finding(extra=1), "findings[0].extra"),
    (finding(reviewers=["B"]), "findings[0].reviewers"),
    (finding(severity="p0"), "findings[0].severity"),
    (finding(severity="P4"), "findings[0].severity"),
    (finding(severity=None), "findings[0].severity"),
    (finding(severity=["P0"]), "findings[0].severity"),
    (finding(path=""), "findings[0].path"),
    (finding(path="./"), "findings[0].path"),
    (finding(path=None), "findings[0].path"),
    (finding(title=" \n"), "findings[0].title"),
    (finding(title=["t"]), "findings[0].title"),
    (finding(title="x" * (MOST_TITLE + 1)), "findings[0].title"),
    (finding(line=0), "findings[0].line"),
    (finding(line=True), "findings[0].line"),
    (finding(line=1.0), "findings[0].line"),
    (finding(line=2**31), "findings[0].line"),
    (finding(end_line=107), "findings[0].end_line"),
    (finding(line=None, end_line=3), "findings[0].end_line"),
    (finding(detail=3), "findings[0].detail"),
    (finding(reviewer=["B"]), "findings[0].reviewer"),
    (finding(rule=7), "findings[0].rule"),
    ({**DOCUMENT, "pr": 0}, "pr"),
    ({**DOCUMENT, "pr": "538"}, "pr"),
    ({**DOCUMENT, "commit": "no commit"}, "commit"),
    ({**DOCUMENT, "commit": "a" * 65}, "commit"),
    ({**DOCUMENT, "partial": "true"}, "partial"),
    ({**DOCUMENT, "partial": None}, "partial"),
    ({**DOCUMENT, "confidence": 2}, "confidence"),
    ({**DOCUMENT, "confidence": {"score": 2}}, "confidence.of"),
    ({**DOCUMENT, "confidence": {"of": 2}}, "confidence.score"),
    ({**DOCUMENT, "confidence": {"score": 6, "of": 5}}, "confidence.score"),
    ({**DOCUMENT, "confidence": {"score": -1, "of": 5}}, "confidence.score"),
    ({**DOCUMENT, "confidence": {"score": 0, "of": 0}}, "confidence.of"),
    ({**DOCUMENT, "confidence": {"score": 1, "of": 5, "x": 1}}, "confidence.x"),
    ({**DOCUMENT, "provenance": []}, "provenance"),
    ({**DOCUMENT, "provenance": {"tokens": 3}}, "provenance.tokens"),
    ({**DOCUMENT, "provenance": {"models": ["B"]}}, "provenance.models"),
    ({**DOCUMENT, "provenance": {"models": {"B": 1}}}, "provenance.models.B"),
    ({**DOCUMENT, "provenance": {"cost_usd": "13"}}, "provenance.cost_usd"),
    ({**DOCUMENT, "provenance": {"cost_usd": -1}}, "provenance.cost_usd"),
    ({**DOCUMENT, "provenance": {"duration_s": 10**400}}, "provenance.duration_s"),
    ({**DOCUMENT, "provenance": {"rounds": 1.5}}, "provenance.rounds"),
    ({**DOCUMENT, "provenance": {"files_examined": -1}}, "provenance.files_examined"),
]


@pytest.mark.parametrize(
    ("document", "path"),
    WRONG,
    ids=[f"{n}-{path}" for n, (_, path) in enumerate(WRONG)],
)
def test_wrong_value_is_rejected_with_its_path(document, path):
    with pytest.raises(Rejected) as caught:
        read(document)

    assert caught.value.path == path
    assert caught.value.message.startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not JSON"),
        (b'{"schema": "healthboard.review/1", "findings": [', "not JSON"),
        (b'{"schema": "healthboard.review/1", "findings": []} x', "not JSON"),
        (b'{"findings": [], "findings": []}', "findings: stands twice"),
        (b'{"confidence": {"score": NaN, "of": 5}}', "NaN"),
        (b'{"confidence": {"score": 1e999, "of": 5}}', "schema"),
        (b'{"pr": ' + b"9" * 5_000 + b"}", "not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"title": "\xff"}', "not utf-8"),
        (b"[]", "must be an object"),
        (b"null", "must be an object"),
    ],
)
def test_what_is_no_document_is_rejected(raw, message):
    with pytest.raises(Rejected, match=message):
        read_json(raw)


def test_not_json_names_line_and_column():
    with pytest.raises(Rejected) as caught:
        read_json(b'{"schema": 1,\n  nonsense}')

    assert (caught.value.line, caught.value.column) == (2, 3)


def test_texts_hold_what_a_database_stores():
    found = read(finding(title="a\x00b\ud800\n c", detail="d\x00")).findings[0]

    assert found.title == "a\ufffdb\ufffd c"
    assert found.detail == "d\ufffd"


PACKS = [bytes, gzip.compress, zstandard.ZstdCompressor().compress]


@pytest.mark.parametrize("pack", PACKS, ids=["plain", "gzip", "zstd"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_content_tells_the_format(pack, encoding):
    texts = {
        "json": json.dumps(DOCUMENT),
        "sarif": '{"version": "2.1.0", "runs": []}',
        "markdown": "FleetReview\n• P0 app/loop.py:108 — Retries for ever",
    }
    found = {
        name: read_review(io.BytesIO(pack(text.encode(encoding))))
        for name, text in texts.items()
    }

    assert found["json"] == read(DOCUMENT)
    assert found["sarif"] == Review((), partial=True)
    assert found["markdown"].findings[0].title == "Retries for ever"


@pytest.mark.parametrize(
    ("raw", "line"), [(b"FleetReview\n\xff", 2), (b"\xe2\x80", 1), (b"\xff\xfea", 1)]
)
def test_bytes_of_no_known_encoding_are_rejected_at_their_line(raw, line):
    with pytest.raises(Rejected, match="not UTF") as caught:
        read_review(io.BytesIO(raw))

    assert caught.value.line == line


@pytest.mark.parametrize("pack", PACKS[1:], ids=["gzip", "zstd"])
def test_damaged_compression_is_rejected(pack):
    whole = pack(json.dumps(DOCUMENT).encode() * 50)
    for raw in (whole[: len(whole) // 2], whole[:20] + b"\x00" * 9 + whole[29:]):
        with pytest.raises(Rejected):
            read_review(io.BytesIO(raw))


def test_bomb_is_refused_before_it_unpacks():
    with pytest.raises(Rejected, match="larger than"):
        read_review(io.BytesIO(gzip.compress(b" " * (MOST_BYTES + 1), 9)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*DOCUMENT, *FINDING, "of", "score"]), inner)
    ),
    max_leaves=12,
)


def answer(read_it):
    """What a reader makes of its input: a review, or why not."""
    try:
        return read_it()
    except Rejected as error:
        return error


@given(st.sampled_from([*DOCUMENT, "partial"]), JSON)
def test_any_value_anywhere_is_read_or_rejected(key, value):
    found = answer(lambda: read({**DOCUMENT, key: value}))

    assert isinstance(found, Review) or found.message


@given(st.sampled_from(list(FINDING)), JSON)
def test_any_value_in_a_finding_is_read_or_rejected_there(key, value):
    found = answer(lambda: read(finding(**{key: value})))

    # NaN is no JSON at all.
    assert (
        isinstance(found, Review)
        or (found.path or "").startswith(f"findings[0].{key}")
        or "not JSON" in found.message
    )


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_rejected(raw):
    for head in (b"", b"{", b"FleetReview\n- P1 ", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"):
        found = answer(lambda raw=head + raw: read_review(io.BytesIO(raw)))

        assert isinstance(found, Review) or found.message
