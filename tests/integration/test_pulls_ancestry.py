"""Commits and first parents, in whatever order they become known."""

from __future__ import annotations

import random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulls import ancestry
from pulls.commits import find_commit
from pulls.models import Commit, Line
from tests.builders import make_project, some

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(db):
    return make_project()


def sha(n: int) -> str:
    return f"{n:040x}"


def chain(first: int, last: int) -> list[str]:
    """Commits from the newest number to the oldest."""
    return [sha(n) for n in range(first, last - 1, -1)]


def ancestors(project, name: str) -> list[str]:
    """The first parents of a commit, itself first, as far as they are known."""
    found: list[str] = []
    for line, depth in ancestry.steps(some(find_commit(project.pk, name))):
        rows = Commit.objects.filter(line=line, depth__lte=depth).order_by("-depth")
        found += rows.values_list("sha", flat=True)
    return found


def test_chains_join_in_any_order(project):
    for pieces in ([(9, 6), (6, 3), (3, 1)], [(3, 1), (9, 6), (6, 3)], [(9, 1)]):
        Line.objects.all().delete()
        for first, last in pieces:
            ancestry.learn(project.pk, chain(first, last))
        assert ancestors(project, sha(9)) == chain(9, 1)
        assert Line.objects.count() == 1


def test_a_branch_leaves_the_line_where_it_began(project):
    ancestry.learn(project.pk, chain(20, 1))
    ancestry.learn(project.pk, [sha(101), sha(100), sha(7)])
    ancestry.learn(project.pk, [sha(102), sha(101)])
    assert ancestors(project, sha(102)) == [sha(102), sha(101), sha(100), *chain(7, 1)]
    ancestry.mark_default(some(find_commit(project.pk, sha(20))))
    head = some(find_commit(project.pk, sha(102)))
    assert some(ancestry.merge_base(head)).sha == sha(7)


def test_a_mark_reaches_what_becomes_known_later(project):
    ancestry.learn(project.pk, [sha(9), sha(8)])
    ancestry.mark_default(some(find_commit(project.pk, sha(9))))
    ancestry.learn(project.pk, chain(5, 1))
    ancestry.learn(project.pk, [sha(50), sha(3)])
    ancestry.learn(project.pk, chain(8, 5))
    head = some(find_commit(project.pk, sha(50)))
    assert some(ancestry.merge_base(head)).sha == sha(3)


def test_a_shallow_clone_ends_the_way(project):
    ancestry.learn(project.pk, [sha(9), sha(8)])
    assert ancestry.merge_base(some(find_commit(project.pk, sha(9)))) is None
    assert (
        ancestry.ancestors_with_runs(some(find_commit(project.pk, sha(9))), most=50)
        == []
    )


def test_wrong_facts_make_no_ring(project):
    ancestry.learn(project.pk, [sha(3), sha(2), sha(1)])
    ancestry.learn(project.pk, [sha(1), sha(3)])
    ancestry.learn(project.pk, [sha(2), sha(2)])
    assert ancestors(project, sha(3)) == chain(3, 1)


def test_the_first_parent_that_was_told_stays(project):
    ancestry.learn(project.pk, [sha(3), sha(2)])
    ancestry.learn(project.pk, [sha(3), sha(7)])
    assert ancestors(project, sha(3)) == [sha(3), sha(2)]
    assert find_commit(project.pk, sha(7)) is not None


def test_seven_digits_are_enough(project):
    long = "abcdef0" + "1" * 33
    ancestry.learn(project.pk, ["abcdef0", sha(1)])
    ancestry.learn(project.pk, [sha(5), long])
    assert ancestors(project, sha(5)) == [sha(5), long, sha(1)]
    assert some(find_commit(project.pk, "ABCDEF01")).sha == long
    ancestry.learn(project.pk, ["abcdef0" + "2" * 33])
    assert find_commit(project.pk, "abcdef0") is None  # two begin so
    assert find_commit(project.pk, "abcde") is None


def test_a_chain_that_is_known_costs_the_same_however_long(project):
    ancestry.learn(project.pk, chain(2_000, 1))
    for length in (10, 1_900):
        with CaptureQueriesContext(connection) as queries:
            ancestry.learn(project.pk, chain(2_000, 2_000 - length))
        assert len(queries) <= 8, length


@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 10**6))
def test_any_order_of_the_pieces_of_a_tree_gives_the_same_ancestors(project, seed):
    Line.objects.all().delete()
    rng = random.Random(seed)
    parents = {
        n: rng.choice([n - 1, n - 1, n - 1, max(n - rng.randint(1, 6), 0)])
        for n in range(1, 16)
    }
    pieces = list(parents.items())
    rng.shuffle(pieces)
    for child, parent in pieces:
        ancestry.learn(project.pk, [sha(child + 1), sha(parent + 1)])
    marked = rng.randint(1, 15)
    ancestry.mark_default(some(find_commit(project.pk, sha(marked + 1))))
    for leaf in range(1, 16):
        way = [leaf]
        while way[-1]:
            way.append(parents[way[-1]])
        assert ancestors(project, sha(leaf + 1)) == [sha(n + 1) for n in way]
        default = {marked}
        at = marked
        while at:
            at = parents[at]
            default.add(at)
        base = ancestry.merge_base(some(find_commit(project.pk, sha(leaf + 1))))
        assert some(base).sha == sha(next(n for n in way if n in default) + 1)
