"""Reviews as they are posted: Markdown, read tolerantly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.report import Rejected
from formats.reviews.markdown import read_markdown
from formats.reviews.review import (
    MOST_DETAIL,
    MOST_TITLE,
    MOST_UNPARSED,
    Confidence,
    Finding,
    Provenance,
    Severity,
)

# Each reads as the same finding: P1, app/loop.py, lines 12 to 18, "Retries for ever".
SAME = [
    "• P1 app/loop.py:12-18 — Retries for ever",
    "- P1 app/loop.py:12-18 — Retries for ever",
    "* P1 app/loop.py:12-18 - Retries for ever",
    "+ P1 app/loop.py:12-18 – Retries for ever",
    "3. P1 app/loop.py:12-18 — Retries for ever",
    "- [ ] P1 app/loop.py:12-18 — Retries for ever",
    "•P1 app/loop.py:12–18 — Retries for ever",
    "- p1 app/loop.py:12-18—Retries for ever",
    "- **P1** app/loop.py:12-18 — Retries for ever",
    "- __P1__ app/loop.py:12-18 — Retries for ever",
    "- [P1] app/loop.py:12-18 — Retries for ever",
    "- (P1) app/loop.py:12-18 — Retries for ever",
    "- **[P1]** app/loop.py:12-18 — Retries for ever",
    "- [**P1**] app/loop.py:12-18 — Retries for ever",
    "- `P1` app/loop.py:12-18 — Retries for ever",
    "- **P1:** app/loop.py:12-18 — Retries for ever",
    "- P1: app/loop.py:12-18 — Retries for ever",
    "- P1 `app/loop.py:12-18` — Retries for ever",
    "- P1 `app/loop.py`:12-18 — Retries for ever",
    "- P1 ``app/loop.py`` (lines 12-18) — Retries for ever",
    "- P1 [app/loop.py:12-18](https://example.org/x) — Retries for ever",
    "- P1 [app/loop.py](https://example.org/x):12-18 — Retries for ever",
    "- P1 [`app/loop.py:12-18`](<https://example.org/x y>) — Retries for ever",
    "- P1 [app/loop.py](https://example.org/app/loop.py#L12-L18) — Retries for ever",
    "- **P1 app/loop.py:12-18** — Retries for ever",
    "- **P1 app/loop.py:12-18 — Retries for ever**",
    "- **P1** `app/loop.py:12-18` — **Retries for ever**",
    "- P1 **app/loop.py:12-18** — Retries for ever",
    "- P1 ./app/loop.py:12-18 — Retries for ever",
    "- P1 app\\loop.py:12-18 — Retries for ever",
    "- P1 app/loop.py#L12-L18 — Retries for ever",
    "- P1 app/loop.py:12:5-18:9 — Retries for ever",
    "- P1 app/loop.py, lines 12-18 — Retries for ever",
    "- P1 app/loop.py:12-18  —   Retries   for ever  ",
    "- P1 app/loop.py:12-18 -- Retries for ever",
    "   - P1 app/loop.py:12-18 — Retries for ever",
    "### P1 app/loop.py:12-18 — Retries for ever",
    "P1 app/loop.py:12-18 — Retries for ever",
]


def only(text: str) -> Finding:
    review = read_markdown(text)
    assert review.unparsed == ()
    (finding,) = review.findings
    return finding


@pytest.mark.parametrize("line", SAME)
def test_bullet_is_read_in_every_spelling(line):
    assert only(line) == Finding(
        Severity.P1, "app/loop.py", "Retries for ever", 12, 18, source_line=1
    )


@pytest.mark.parametrize(
    ("line", "path", "first", "last", "title"),
    [
        ("- P0 a.py:3 — x", "a.py", 3, None, "x"),
        ("- P0 a.py — x", "a.py", None, None, "x"),
        ("- P2 Makefile — no target", "Makefile", None, None, "no target"),
        ("- P2 Makefile:7 — no target", "Makefile", 7, None, "no target"),
        ("- P2 .gitignore — too wide", ".gitignore", None, None, "too wide"),
        ("- P3 docs/my page.md:4 — typo", "docs/my page.md", 4, None, "typo"),
        ("- P3 `docs/my page.md` — typo", "docs/my page.md", None, None, "typo"),
        ("- P3 C:\\src\\a.py:4 — typo", "C:/src/a.py", 4, None, "typo"),
        ("- P3 a/b-c.py:4 — d - e — f", "a/b-c.py", 4, None, "d - e — f"),
        ("- P3 `a.py:4` — 12 – 18 tests", "a.py", 4, None, "12 – 18 tests"),
        ("- P3 `a.py`:4 — 18 tests", "a.py", 4, None, "18 tests"),
        ("- P3 pkg/__init__.py:1 — __all__", "pkg/__init__.py", 1, None, "__all__"),
        ("- P3 **pkg/__init__.py:1** — x", "pkg/__init__.py", 1, None, "x"),
        ("- P3 t/a.py::test_b:9 — x", "t/a.py::test_b", 9, None, "x"),
    ],
)
def test_place_is_read_as_far_as_it_is_given(line, path, first, last, title):
    found = only(line)

    assert (found.path, found.line, found.end_line) == (path, first, last)
    assert found.title == title


@pytest.mark.parametrize(
    "line",
    [
        "- P1 app/loop.py:12",  # no title
        "- P1 app/loop.py:12 —",
        "- P1 app/loop.py:12: Retries for ever",  # no dash
        "- P1 — Retries for ever",  # no path
        "- P1 Security — tokens are logged",
        "- P1 the whole design — is wrong",
        "- P4 app/loop.py:12 — no such severity",
        "- P12 app/loop.py:12 — no such severity",
        "- P1/P2 app/loop.py:12 — which?",
        "- P? app/loop.py — which?",
        "- P1-critical app/loop.py:12 — what?",
        "- ~~P1 app/loop.py:12 — struck out~~",
        "- P1 app/loop.py:18-12 — backwards",
        "- P1 app/loop.py:0 — no such line",
        "- P1 app/loop.py:99999999999 — no such line",
        "- P1 app/loop.py:3, app/b.py:5 — two places",
        "- app/loop.py:12 — no severity",
        "- `app/loop.py:12` no severity",
        "- Critical (P0) in app/loop.py — severity in words",
        f"- P1 app/loop.py:12 — {'x' * (MOST_TITLE + 1)}",
        f"- P1 {'x' * 3000}.py:12 — a long path",
        "> - P1 app/loop.py:12 — quoted",
        "| P1 | app/loop.py:12 | in a table |",
    ],
)
def test_bullet_that_cannot_be_read_is_kept(line):
    review = read_markdown(f"FleetReview\n{line}\n- P0 a.py:1 — fine")

    assert [each.title for each in review.findings] == ["fine"]
    assert [(u.number, u.text) for u in review.unparsed] == [
        (2, line.strip()[:MOST_UNPARSED])
    ]
    assert not review.complete


@pytest.mark.parametrize(
    "line",
    [
        "- Looks good overall",
        "- see https://example.org:8080/a.py for more",
        "* Thanks to everybody — well done",
        "P0 findings — must be fixed",
        "## P1",
        "Findings",
        "---",
        "- ",
        "",
    ],
)
def test_prose_is_no_finding(line):
    review = read_markdown(f"FleetReview\n{line}\n")

    assert review.findings == ()
    assert review.complete


@pytest.mark.parametrize(
    "heading", ["Findings", "## Findings", "**Findings:**", "Findings (3)", "findings:"]
)
def test_every_bullet_under_findings_is_meant_as_one(heading):
    text = (
        f"FleetReview\n- Fine overall\n{heading}\n\n- P1 a.py:1 — one\n"
        "- High: loops for ever\n\n---\n- Fine again\n"
    )
    review = read_markdown(text)

    assert [(u.number, u.text) for u in review.unparsed] == [
        (6, "- High: loops for ever")
    ]
    assert [f.title for f in review.findings] == ["one"]


@pytest.mark.parametrize("line", ["- None", "- No findings.", "None", "- *nothing*"])
def test_section_that_says_there_is_none_is_read(line):
    assert read_markdown(f"FleetReview\n\nFindings\n\n{line}\n").complete


def test_indented_text_is_detail():
    text = (
        "FleetReview\n"
        "- P1 a.py:1 — first\n"
        "  It starts here.\n"
        "\n"
        "    - and nested: b.py:3\n"
        "  ```\n"
        "  - P0 quoted.py:1 — in code\n"
        "  ```\n"
        "\n"
        "- P2 c.py:2 — second\n"
        "Not indented: prose.\n"
        "  So this is no detail either.\n"
    )
    first, second = read_markdown(text).findings

    assert first.detail == (
        "It starts here.\n\n  - and nested: b.py:3\n"
        "```\n- P0 quoted.py:1 — in code\n```"
    )
    assert second.detail == ""


def test_nested_finding_counts_by_itself():
    text = "- P1 a.py:1 — first\n  - P2 b.py:2 — second\n    more\n    - P9 c — what\n"
    review = read_markdown(text)

    assert [(f.path, f.detail) for f in review.findings] == [
        ("a.py", ""),
        ("b.py", "more"),
    ]
    assert [(u.number, u.text) for u in review.unparsed] == [(4, "- P9 c — what")]


def test_open_code_block_does_not_swallow_the_next_finding():
    review = read_markdown("- P1 a.py:1 — one\n  ```\n  code\n- P2 b.py:1 — two\n")

    assert [each.path for each in review.findings] == ["a.py", "b.py"]


def test_whole_review_in_a_code_block_is_read():
    review = read_markdown("```\nFleetReview\n• P1 a.py:1 — one\n```\n")

    assert [each.path for each in review.findings] == ["a.py"]


def test_long_detail_is_cut_and_noted():
    review = read_markdown("- P1 a.py:1 — one\n  " + "x" * (MOST_DETAIL + 5))

    assert len(review.findings[0].detail) == MOST_DETAIL
    assert [(n.code, n.line) for n in review.notes] == [("detail-cut", 1)]


def test_parts_come_in_any_order():
    lines = [
        "# FleetReview of #12",
        "Confidence: 2/5",
        "- P1 a.py:1 — one",
        "FleetReview provenance · rounds: 1",
    ]
    forwards, backwards = (
        read_markdown("\n".join(lines)),
        read_markdown("\n\n".join(reversed(lines))),
    )

    assert forwards.pr == backwards.pr == 12
    assert forwards.confidence == backwards.confidence == Confidence(2, 5)
    assert forwards.provenance == backwards.provenance == Provenance(rounds=1)
    assert [f.title for f in forwards.findings] == ["one"]
    assert [f.title for f in backwards.findings] == ["one"]


@pytest.mark.parametrize(
    ("title", "pr"),
    [
        ("FleetReview", None),
        ("FleetReview #3", None),  # may be a round
        ("FleetReview for PR #3", 3),
        ("**FleetReview** of #3", 3),
        ("The last FleetReview of #3 was better", None),
    ],
)
def test_title_names_a_pull_request_only_in_words(title, pr):
    assert read_markdown(title).pr == pr


def test_review_without_findings_is_complete():
    assert read_markdown("FleetReview\n\nConfidence: 5/5\n\nNo findings.").complete


@pytest.mark.parametrize(
    "line", ["partial: true", '"partial": true', "**Partial:** true"]
)
def test_review_may_say_that_it_is_partial(line):
    review = read_markdown(f"FleetReview\n{line}\n")

    assert review.partial
    assert not review.complete


@pytest.mark.parametrize("text", ["", "\n\n", "Hello", "# Release notes\n- faster"])
def test_text_that_is_no_review_is_rejected(text):
    with pytest.raises(Rejected, match="not a review"):
        read_markdown(text)


def test_line_ends_of_every_system_are_equal():
    text = "FleetReview\n- P1 a.py:1 — one\n  more\n- P2 b.py:2 — two"
    readings = [read_markdown(text.replace("\n", end)) for end in ("\n", "\r\n", "\r")]

    assert readings[0].findings[0].detail == "more"
    assert readings[0] == readings[1] == readings[2]


WORDS = st.lists(
    st.text("abcdefgh", min_size=1, max_size=6), min_size=1, max_size=4
).map(" ".join)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(Severity),
            st.from_regex(r"[a-z]{1,5}/[a-z_]{1,8}\.py", fullmatch=True),
            st.none() | st.integers(1, 10_000),
            WORDS,
        ),
        max_size=6,
    ),
    st.sampled_from("•-*"),
    st.sampled_from(["—", "–", "-"]),
)
def test_what_is_written_is_read(entries, bullet, dash):
    lines = [
        f"{bullet} {severity} {path}{f':{line}' if line else ''} {dash} {title}"
        for severity, path, line, title in entries
    ]
    review = read_markdown("\n".join(["FleetReview", *lines]))

    assert [(f.severity, f.path, f.line, f.title) for f in review.findings] == entries
    assert review.complete
