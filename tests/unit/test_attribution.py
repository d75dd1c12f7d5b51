"""Whose a failure is, by every combination of what two ancestors can show."""

from __future__ import annotations

from itertools import product

import pytest

from analysis.attribution import Share, Sight, Why, attribute, gone_since

SEEN, OTHER = Sight(same=True, present=True), Sight(other=True, present=True)
PASSED, WHOLE, PART = Sight(present=True), Sight(complete=True), Sight()


@pytest.mark.parametrize(
    ("sight", "share", "why"),
    [
        (SEEN, Share.INHERITED, Why.SEEN),
        (OTHER, Share.INTRODUCED, Why.OTHER),
        (PASSED, Share.INTRODUCED, Why.PASSED),
        (WHOLE, Share.INTRODUCED, Why.ABSENT),
    ],
)
def test_the_nearest_that_tells_decides(sight, share, why):
    for before in range(3):
        told = attribute([*[PART] * before, sight, SEEN, PASSED])
        assert (told.share, told.why, told.place) == (share, why, before)


@pytest.mark.parametrize("count", [0, 1, 50])
def test_without_a_telling_run_it_is_unknown(count):
    told = attribute([PART] * count)
    assert (told.share, told.why, told.place) == (Share.UNKNOWN, Why.NO_RUN, -1)


def test_the_same_outranks_all_that_is_seen_beside_it():
    for other, present, complete in product([False, True], repeat=3):
        sight = Sight(True, other, present, complete)
        assert attribute([sight]).share is Share.INHERITED


@pytest.mark.parametrize(
    ("newer", "place"),
    [
        ([], None),
        ([SEEN], None),
        ([PASSED], 0),
        ([PASSED, SEEN], 0),
        ([SEEN, PASSED], None),  # it came back
        ([PASSED, PASSED, SEEN, PASSED], 1),
        ([PART, PASSED, SEEN], 1),  # an incomplete newest run says nothing
        ([PART, SEEN], None),
        ([WHOLE, PART, SEEN], 0),
        ([OTHER, SEEN], 0),
    ],
)
def test_it_is_gone_since_it_went_last(newer, place):
    assert gone_since(newer) == place
