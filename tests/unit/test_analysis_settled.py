"""Which of a test's outcomes count: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.settled import counted


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("", 0),
        ("P", 1),
        ("F", 1),
        ("PF", 2),
        ("PFP", 3),  # the first pass after a failure
        ("PFPP", 4),  # the steps are 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15 …
        ("F" + "P" * 7, 8),
        ("F" + "P" * 8, 8),
        ("F" + "P" * 9, 10),
        ("P" * 8 + "F", 9),
        ("P" * 8 + "FP", 10),
        ("P" * 11 + "F", 12),
        ("P" * 11 + "FPP", 13),
        ("P" * 13, 12),
    ],
)
def test_outcomes_that_count(outcomes, expected):
    assert counted(np.array([one == "F" for one in outcomes], dtype=bool)) == expected
