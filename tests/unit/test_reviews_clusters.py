"""Near-duplicates become one cluster, and nothing else does."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.reviews.clusters import Decision, Hand, Raised, cluster
from formats.reviews.identity import fold
from formats.reviews.likeness import MOST_SHARING, candidates, links
from formats.reviews.markdown import read_markdown
from formats.reviews.ranking import Facts, rank
from formats.reviews.review import Finding, Severity
from tests.unit.test_reviews_life import NOW


def raised(*lines, pr=1):
    """Findings keyed a, b, c …: each `P1 path title`."""
    found = []
    for key, line in zip("abcdefghijklmnop", lines, strict=False):
        severity, path, title = line.split(maxsplit=2)
        found.append(Raised(key, pr, Finding(Severity(severity), path, title)))
    return found


def groups(findings, decisions=()):
    return sorted(
        "".join(sorted(each.members)) for each in cluster(findings, decisions)
    )


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Alike in their rarer words, wherever they lie.
        (
            [
                "P1 a.py Retry budget ignored",
                "P1 b.py The retry budget is not honoured",
            ],
            ["ab"],
        ),
        (["P1 a.py Skew calibration gone", "P2 b.py Calibration lost"], ["ab"]),
        (["P1 a.py Purges leak", "P1 b.py Purging is leaked"], ["ab"]),
        (["P1 a.py Leak in agent.loop", "P1 b.py agent.loop leaks"], ["ab"]),
        (["P1 a.py Module leak", "P1 b.py Module leak"], ["ab"]),
        (["P1 a.py Retry-budget gone", "P1 b.py (retry, budget)-less"], ["ab"]),
        # Stop words and words of every review are no likeness.
        (
            ["P1 a.py PR test was not fixed", "P1 b.py Fixed test in this PR"],
            ["a", "b"],
        ),
        (["P1 a.py Module leak", "P1 b.py Leak missed"], ["a", "b"]),
        (["P1 a.py Missing error check", "P1 b.py Missing cache key"], ["a", "b"]),
        (["P1 a.py Replacement missed", "P1 b.py Reimports missed"], ["a", "b"]),
        # One rare word of many is not enough.
        (
            [
                "P1 a.py Upload retries swallow the deadline of the parent span",
                "P1 b.py Upload metrics double the bucket boundaries",
            ],
            ["a", "b"],
        ),
        # A dotted name is one word.
        (["P1 a.py sys.modules purged", "P1 b.py Modules of sys purge"], ["a", "b"]),
        (["P1 a.py os.path differs", "P1 b.py Traversal of a path"], ["a", "b"]),
        # Severities are at most one step apart.
        (["P0 a.py Calibration lost", "P1 b.py Calibration lost"], ["ab"]),
        (["P0 a.py Calibration lost", "P2 b.py Calibration lost"], ["a", "b"]),
        # One names the other's file, literally.
        (["P1 t/conftest.py Too wide", "P1 a.py conftest.py purges twice"], ["ab"]),
        (["P1 t/conftest.py Too wide", "P1 a.py See t/conftest.py:46."], ["ab"]),
        (["P1 t/conftest.py Too wide", "P1 a.py See u/conftest.py"], ["a", "b"]),
        (["P1 t/conftest.py Too wide", "P1 a.py The conftest purges"], ["a", "b"]),
        (["P1 t/conftest.py Too wide", "P1 a.py Conftest.pyx purges"], ["a", "b"]),
        (["P1 t/gate.py Too wide", "P1 a.py xgate.py purges"], ["a", "b"]),
        (["P0 t/conftest.py Too wide", "P3 a.py conftest.py purges"], ["a", "b"]),
        (["P2 bin/run Too wide", "P2 a.py Nobody can run it"], ["a", "b"]),
        (["P2 Makefile Too wide", "P2 a.py Not in the Makefile"], ["ab"]),
        # Its own file says nothing of another finding there.
        (["P1 a.py a.py purges twice", "P1 a.py Too wide"], ["a", "b"]),
        # Which of two files is meant is not guessed.
        (
            [
                "P1 a/__init__.py Slow",
                "P1 b/__init__.py Wide",
                "P1 c.py See __init__.py",
            ],
            ["a", "b", "c"],
        ),
        (
            ["P1 a/__init__.py Slow", "P1 b/__init__.py Wide", "P1 c.py b/__init__.py"],
            ["a", "bc"],
        ),
    ],
    ids=range(27),
)
def test_pairs_are_alike_or_not(lines, expected):
    assert groups(raised(*lines)) == expected


def test_several_reviewers_of_one_cause_are_one_cluster():
    lines = [f"P1 t/f{n}.py Calibration of the skew is dropped" for n in range(12)]

    assert groups(raised(*lines)) == ["abcdefghijkl"]


def test_word_that_every_title_has_joins_nothing():
    kinds = ["amber", "brass", "cobalt", "dusty", "ebony", "fawn", "garnet", "hazel"]

    assert len(groups(raised(*(f"P1 {kind}.py Gate {kind}" for kind in kinds)))) == 8


def test_chain_spans_no_more_than_one_step():
    """P0 and P2 are no near-duplicates, although each is one of the P1."""
    found = cluster(raised(*(f"P{n} f{n}.py Calibration lost" for n in range(3))))

    for each in found:
        steps = [int("abc".index(key)) for key in each.members]
        assert max(steps) - min(steps) <= 1
    assert len(found) == 2


def test_findings_of_other_pull_requests_are_other_clusters():
    here = raised("P1 a.py Calibration lost", pr=1)
    there = [Raised("b", 2, here[0].finding), Raised("c", None, here[0].finding)]

    assert groups([*here, *there]) == ["a", "b", "c"]


def test_cluster_has_highest_severity_and_all_reviewers():
    findings = [
        Raised("a", 1, Finding(Severity.P2, "a.py", "Calibration lost")),
        Raised(
            "b", 1, Finding(Severity.P1, "b.py", "Calibration lost", reviewers=("C",))
        ),
        Raised(
            "c",
            1,
            Finding(Severity.P2, "c.py", "Calibration lost", reviewers=("B", "C")),
        ),
    ]
    (found,) = cluster(findings)

    assert (found.severity, found.reviewers) == ("P1", ("B", "C"))
    assert found.members == ("b", "a", "c")
    assert found.key == "a"
    assert {link.why for link in found.links} == {"alike in calibration, lost"}


ALIKE = raised(*(f"P1 f{n}.py Calibration lost" for n in range(4)))
OTHERS = raised("P0 a.py Slow", "P3 b.py Wide", "P2 c.py Deep")


def split(these, those):
    return Decision(Hand.SPLIT, frozenset(these), frozenset(those))


def join(these, those=""):
    return Decision(Hand.JOIN, frozenset(these), frozenset(those))


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([], ["abcd"]),
        ([split("ab", "cd")], ["ab", "cd"]),
        ([split("a", "bcd")], ["a", "bcd"]),
        ([split("abcd", "abcd")], ["a", "b", "c", "d"]),
        # b is with a by hand; c and d are still apart from a.
        ([split("a", "bcd"), join("ab")], ["ab", "cd"]),
        ([join("ab"), split("a", "b")], ["acd", "b"]),
        ([split("z", "a")], ["abcd"]),
    ],
)
def test_split_holds_and_the_later_decision_counts(decisions, expected):
    assert groups(ALIKE, decisions) == expected


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([], ["a", "b", "c"]),
        ([join("ab")], ["ab", "c"]),
        ([join("a", "bc")], ["abc"]),
        ([join("ab"), join("bc")], ["abc"]),
        ([join("abc"), split("a", "bc")], ["a", "bc"]),
        ([join("abc"), split("b", "ac")], ["ac", "b"]),
        ([split("a", "b"), join("abc")], ["abc"]),
        ([join("az")], ["a", "b", "c"]),
    ],
)
def test_join_holds_however_different_they_are(decisions, expected):
    assert groups(OTHERS, decisions) == expected


def test_new_finding_between_the_halves_does_not_undo_a_split():
    decisions = [split("a", "b")]
    before, after = groups(ALIKE[:2], decisions), groups(ALIKE, decisions)

    assert before == ["a", "b"]
    assert not any("a" in each and "b" in each for each in after)


WORD = st.sampled_from(
    [
        "calibration",
        "skew",
        "gate",
        "purge",
        "sys.modules",
        "leak",
        "lost",
        "conftest.py",
        "the",
        "retry",
    ]
)
FINDINGS = st.lists(
    st.builds(
        Finding,
        severity=st.sampled_from(Severity),
        path=st.sampled_from(["a.py", "t/conftest.py", "b/c.py"]),
        title=st.lists(WORD, min_size=1, max_size=4).map(" ".join),
        reviewers=st.sets(st.sampled_from("BCF"), max_size=2).map(sorted).map(tuple),
    ),
    max_size=10,
)
KEYS = st.frozensets(st.sampled_from("abcdefghij"), max_size=4)
DECISIONS = st.lists(st.builds(Decision, st.sampled_from(Hand), KEYS, KEYS), max_size=3)


@given(FINDINGS, DECISIONS, st.randoms())
def test_order_of_findings_changes_nothing(findings, decisions, rng):
    given_so = [
        Raised(key, 1, each) for key, each in zip("abcdefghij", findings, strict=False)
    ]
    shuffled = rng.sample(given_so, len(given_so))

    assert cluster(given_so, decisions) == cluster(shuffled, decisions)


@given(FINDINGS, DECISIONS)
def test_each_finding_is_in_one_cluster_and_splits_hold(findings, decisions):
    known = dict(zip("abcdefghij", findings, strict=False))
    found = cluster([Raised(key, 1, each) for key, each in known.items()], decisions)

    assert sorted(key for each in found for key in each.members) == sorted(known)
    for each in found:
        members = [known[key] for key in each.members]
        assert each.severity == min(member.severity for member in members)
        assert set(each.reviewers) == {n for m in members for n in m.reviewers}
        steps = [member.severity.step for member in members]
        assert each.by_hand or max(steps) - min(steps) <= 1
    if decisions and decisions[-1].hand is Hand.SPLIT:
        last = decisions[-1]
        for each in found:
            for one, other in combinations(each.members, 2):
                assert not (one in last.these and other in last.those)
                assert not (other in last.these and one in last.those)
    if decisions and decisions[-1].hand is Hand.JOIN:
        joined = (decisions[-1].these | decisions[-1].those) & known.keys()
        assert sum(1 for each in found if joined & set(each.members)) <= 1


def vocabulary(rng, size):
    return ["".join(rng.choices("bcdfgklmnprstvz", k=7)) for _ in range(size)]


@pytest.mark.parametrize("size", [500, 2_000])
def test_pairs_looked_at_grow_with_the_number_of_findings(size):
    """A review of 2,000 findings has two million pairs."""
    rng = random.Random(7)
    words = vocabulary(rng, 300)
    findings = {
        f"{n:04}": Finding(
            rng.choice(list(Severity)), f"f{n}.py", " ".join(rng.sample(words, 6))
        )
        for n in range(size)
    }
    titles = {
        key: dict.fromkeys(each.title.split(), 1.0) for key, each in findings.items()
    }
    pairs = candidates(titles, sorted(findings))

    assert len(pairs) <= 6 * size * MOST_SHARING / 2
    assert links(findings) == links(dict(reversed(findings.items())))


def test_long_titles_are_compared_by_their_rarest_words():
    rng = random.Random(8)
    words = vocabulary(rng, 3_000)
    titles = {f"{n:04}": dict.fromkeys(rng.sample(words, 300), 1.0) for n in range(300)}

    assert len(candidates(titles, sorted(titles))) <= 24 * 300 * MOST_SHARING / 2


def test_file_of_which_much_is_wrong_is_no_cause():
    """Naming it says nothing of any one of its findings."""
    many = [
        Raised(f"{n:04}", 1, Finding(Severity.P1, "t/conftest.py", title))
        for n, title in enumerate(vocabulary(random.Random(9), 30))
    ]
    naming = Raised("x", 1, Finding(Severity.P1, "a.py", "See conftest.py"))

    assert len(cluster([*many[:3], naming])) == 1
    assert len(cluster([*many, naming])) == 31


def test_many_findings_that_are_all_the_same_are_one_cluster():
    same = [
        Raised(f"{n:04}", 1, Finding(Severity.P2, f"f{n}.py", "Unused import"))
        for n in range(2_000)
    ]

    assert [len(each.members) for each in cluster(same)] == [2_000]


SAMPLE_LIKE = """FleetReview
• P2 app/engine.py:5 — Uncaught Persistence
• P1 store.py:48 — Weighting Lost
• P1 tests/test_weights.py:1 — PR quietly drops the (vendor, region)-based drift weighting
• P0 tests/env_gate.py:10 — Strict os.environ drift gate reddens suites left alone by this PR
• P1 tests/env_gate.py:12 — Deletion Missed
• P1 app/compress.py:17 — Region-based drift weighting gone; new hosts start from nothing
• P0 tests/conftest.py:4 — Turning the os.environ gate on will break CI on unreset writes
• P0 tests/app/test_stop.py:2 — Gate ships red: test_stop.py still has the unreset write
"""


def test_one_cause_in_different_files_is_one_cluster():
    """The kind of review this was made for; the words are our own."""
    findings = fold(read_markdown(SAMPLE_LIKE).findings)
    found = cluster([Raised(key, 1, each) for key, each in findings.items()])
    paths = [[findings[key].path for key in each.members] for each in found]

    assert paths[:2] == [
        ["tests/app/test_stop.py", "tests/conftest.py", "tests/env_gate.py"],
        ["app/compress.py", "store.py", "tests/test_weights.py"],
    ]
    assert [len(each) for each in paths[2:]] == [1, 1]


def test_shared_sample_has_its_two_clusters(shared):
    text = (shared / "samples" / "fleet-review.md").read_text("utf-8")
    review = read_markdown(text)
    findings = fold(review.findings)
    found = cluster([Raised(key, 541, each) for key, each in findings.items()])
    places = [
        [(findings[k].severity, findings[k].line) for k in c.members] for c in found
    ]

    assert review.complete
    assert len(findings) == 12
    assert sorted(places[0]) == [("P0", 22), ("P0", 46), ("P0", 108)]
    assert sorted(places[1]) == [("P1", 1), ("P1", 1715), ("P1", 4801)]
    assert [len(each) for each in places[2:]] == [1] * 6
    ranked = rank(
        [Facts(c.key, c.severity, reviewers=c.reviewers) for c in found], now=NOW
    )
    assert ranked[0].key == found[0].key
