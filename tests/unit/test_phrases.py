"""What texts declare of other pull requests: the table, and everything around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.phrase_tokens import Reference
from formats.phrases import Kind, read_edges

OWN = ("acme/agent",)


def edges(*texts: str, number: int = 541) -> list[tuple[str, str]]:
    """(number, kind) of each edge; one that is turned round begins with "<"."""
    return [
        (f"{'<' if edge.reverse else ''}{edge.to}", edge.kind.value)
        for edge in read_edges(texts, number=number, own=OWN)
    ]


BLOCKING = [
    *("blocked on", "blocked by", "depends on", "needs", "requires", "waiting for"),
    *("waiting on", "stacked on", "land after", "merge after", "rebase after"),
]
RELATED = [
    *("companion to", "related to", "see also", "supersedes", "replaces"),
    "dropped in favour of",
]


@pytest.mark.parametrize("phrase", BLOCKING)
@pytest.mark.parametrize(
    ("spelled", "named"),
    [
        ("#5", "5"),
        ("PR #5", "5"),
        ("pull request #5", "5"),
        ("acme/agent#5", "5"),
        ("Acme/Agent#5", "5"),
        ("acme/other#5", "acme/other#5"),
        ("https://github.com/acme/agent/pull/5", "5"),
        ("https://github.com/acme/agent/pull/5/files#diff-1", "5"),
        ("<https://github.com/acme/agent/pull/5>", "5"),
        ("https://gitlab.test/top/sub/app/-/merge_requests/5", "top/sub/app#5"),
        ("!5", "5"),
        ("[#5](https://github.com/acme/agent/pull/5)", "5"),
        ("[the fix](https://github.com/acme/agent/pull/5)", "5"),
        ("**#5**", "5"),
    ],
)
def test_a_blocking_phrase_names_what_it_waits_for(phrase, spelled, named):
    assert edges(f"It is {phrase} {spelled}.") == [(named, "blocking")]
    assert edges(f"{phrase.upper()}: {spelled}") == [(named, "blocking")]


@pytest.mark.parametrize("phrase", RELATED)
def test_a_related_phrase_never_blocks(phrase):
    assert edges(f"{phrase.capitalize()} #5 and #6") == [
        ("5", "related"),
        ("6", "related"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Land #5 first", [("5", "blocking")]),
        ("please merge #5 and #6 first", [("5", "blocking"), ("6", "blocking")]),
        ("after #5 lands", [("5", "blocking")]),
        ("After #5 merges, rebase.", [("5", "blocking")]),
        ("after #5 and #6 land", [("5", "blocking"), ("6", "blocking")]),
        ("after #5 we shall see", []),
        ("land #5 when you like", []),
        ("Rebased on #5 - green now.", []),
        ("blocks #5", [("<5", "blocking")]),
        ("blocks #5, #6", [("<5", "blocking"), ("<6", "blocking")]),
        ("needs review, see #5", []),
        ("needs a look at PR #5", []),
        ("requires #5 and #6", [("5", "blocking"), ("6", "blocking")]),
        ("blocked on Ada's PR #5", [("5", "blocking")]),
        ("blocked on the fix #5", []),
        ("Companion to #5 (leaker #1) and #6.", [("5", "related"), ("6", "related")]),
        ("depends on #5, leaker #1, and #6", [("5", "blocking"), ("6", "blocking")]),
        ("depends on #5. #6 is done", [("5", "blocking")]),
        ("depends on #5/#6", [("5", "blocking"), ("6", "blocking")]),
        ("depends on C#5 and page/#6", []),
        ("depends on #0 and #99999999999", []),
        ("fixes #5, closes #6", []),
        ("depends on #541", []),
        ("depends on acme/agent#541", []),
        ("(depends on #5)", [("5", "blocking")]),
        ("Depends on:\n- #5\n- #6 (why)\n", [("5", "blocking"), ("6", "blocking")]),
        ("Blocked by\n\n* [ ] #5\n* [x] PR #6", [("5", "blocking"), ("6", "blocking")]),
        ("Depends on:\n- the work in #5", []),
        ("blocked on\n#5", [("5", "blocking")]),
        ("blocked on\n\n#5", []),
        ("1. depends on #5\n2. #6", [("5", "blocking")]),
    ],
)
def test_what_a_text_says(text, found):
    assert edges(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "```\nblocked on #5\n```",
        "~~~sh\nblocked on #5\n~~~",
        "````\n```\nblocked on #5\n````",
        "```\nblocked on #5",
        "intro\n\n    blocked on #5",
        "> blocked on #5",
        ">> blocked on #5",
        "   > blocked on #5",
        "`blocked on #5`",
        "`` blocked on `#5` ``",
        "blocked on `#5`",
        "~~blocked on #5~~",
        "<del>blocked on #5</del>",
        "<!-- blocked on #5 -->",
        "<!--\nblocked on #5\n",
    ],
)
def test_what_is_quoted_or_taken_out_does_not_count(text):
    assert edges(text) == []
    assert edges(f"{text}\n") == []


def test_what_follows_a_block_counts_again():
    text = "```\nblocked on #1\n```\n> blocked on #2\n\nBlocked on #3\n"
    assert edges(text) == [("3", "blocking")]


@pytest.mark.parametrize(
    "taken",
    [
        "not blocked on #5",
        "No longer blocked on #5.",
        "no longer depends on #5",
        "It isn't blocked by #5 any more",
        "It isn’t blocked by #5 any more",
        "unblocked from #5",
        "Unblocked.",
        "unblocked now",
    ],
)
def test_a_later_word_takes_an_edge_away(taken):
    assert edges("Blocked on #5", taken) == []
    assert edges(taken, "Blocked on #5") == [("5", "blocking")]


def test_a_removal_speaks_of_its_numbers_alone():
    text = "Blocked on #5 and #6. Related to #5. No longer depends on #5."
    assert edges(text) == [("6", "blocking"), ("5", "related")]
    assert edges("depends on #5", "it will be unblocked") == [("5", "blocking")]


def test_an_edge_says_what_declared_it():
    [edge] = read_edges(["Depends on #5"], number=1)
    assert edge.to == Reference("", 5)
    assert (edge.kind, edge.phrase) == (Kind.BLOCKING, "depends on")


@given(st.text(st.sampled_from("ab #12(`>\n-*~![]</.:,"), max_size=200))
def test_no_text_is_too_odd(text):
    first = read_edges([text], number=1)
    assert first == read_edges([text], number=1)
    assert all(edge.to != Reference("", 1) for edge in first)


@given(
    st.sampled_from([*BLOCKING, *RELATED, "blocks"]),
    st.lists(st.integers(2, 999), min_size=1, max_size=6, unique=True),
    st.sampled_from([", ", " and ", ", and ", " or ", " + "]),
)
def test_every_number_of_a_list_counts_once(phrase, numbers, between):
    text = f"{phrase} {between.join(f'#{n}' for n in numbers)}"
    found = read_edges([text, text], number=1)
    assert [edge.to.number for edge in found] == numbers


@pytest.mark.parametrize(
    "piece", ["`", "(", "[", "<a", "~~x", "a/", "- ", "<!--", "#1 "]
)
def test_time_grows_with_the_length_alone(piece):
    """Each of these once made some pattern look at the rest from every place."""
    assert read_edges(["blocked on " + piece * 40_000], number=1) is not None
