"""Markdown that nobody means well with: read in passing, or rejected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.report import Rejected
from formats.reviews.identity import fold
from formats.reviews.markdown import read_markdown
from formats.reviews.review import MOST_FINDINGS, MOST_MARKDOWN

WORDLIKE = "- |• |* |P0|P1 |P7|**|[|](|)|`|a/b.py|:12|-18| — | - |–|#L3|é|```"
SPOKEN = "FleetReview| provenance|cost: |$1|Confidence: |2/5|models: |B=x, "
PIECES = st.sampled_from(
    [*WORDLIKE.split("|"), *SPOKEN.split("|"), "|", "\n", "\n  ", "\t", "\x00", "\x85"]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_read_or_rejected_and_no_severity_vanishes(text):
    try:
        review = read_markdown(text)
    except Rejected:
        return
    shown = "\n".join(
        [u.text for u in review.unparsed]
        + [f"{f.severity} {f.title} {f.detail} {f.path}" for f in review.findings]
    )
    for line in text.replace("\r", "\n").split("\n"):
        if line.startswith(("- P0 ", "• P1 ", "* P1 ")):
            assert line[2:4] in shown


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "`",
        "**",
        " - ",
        "–",
        "a.",
        "P1 ",
        "(",
        "]( ",
        ":1",
        "\\",
        "a.b:",
        " ",
        "1,",
    ],
)
@pytest.mark.parametrize("head", ["- P1 ", "- ", "FleetReview provenance cost: ", ""])
def test_hostile_repetition_is_read_in_passing(head, part):
    """It would take minutes if one of the patterns ran over its text twice."""
    text = head + part * 200_000
    review = read_markdown(f"FleetReview\n{text}\n- P0 a.py:1 — last")

    assert review.findings[-1].title == "last"


@pytest.mark.parametrize(
    "line",
    [
        "- P1 " + "a - " * 300,
        "- P1 a/b.py:1 — " + "_" * 900 + "x" + "." * 900 + "y",
        "- P1 [" + "a](" * 300,
        "- P1 " + "a:1" * 400,
        "FleetReview provenance " + "cost:" * 300,
    ],
    ids=range(5),
)
def test_many_hostile_lines_are_read_in_passing(line):
    review = read_markdown("FleetReview\n" + f"{line}\n" * 4_000)

    assert len(fold(review.findings)) <= 1
    assert len(review.notes) <= 4_000 * 50


def test_too_long_a_text_is_rejected():
    with pytest.raises(Rejected, match="longer than"):
        read_markdown("FleetReview\n" + "x" * MOST_MARKDOWN)


def test_too_many_findings_are_rejected_at_their_line():
    with pytest.raises(Rejected, match="more than") as caught:
        read_markdown("- P1 a.py:1 — b\n" * (MOST_FINDINGS + 1))

    assert caught.value.line == MOST_FINDINGS + 1
