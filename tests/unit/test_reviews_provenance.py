"""How a review came to be, and how sure it is."""

from __future__ import annotations

import pytest

from formats.reviews.markdown import read_markdown
from formats.reviews.review import Confidence, Provenance


@pytest.mark.parametrize(
    ("line", "score", "of"),
    [
        ("Confidence: 2/5", 2, 5),
        ("**Confidence:** 2/5", 2, 5),
        ("## Confidence: 2 / 5", 2, 5),
        ("- Confidence: 4.5/5", 4.5, 5),
        ("confidence score: 3 out of 4", 3, 4),
        ("Confidence = 0/10", 0, 10),
    ],
)
def test_confidence_is_read(line, score, of):
    assert read_markdown(line).confidence == Confidence(score, of)


@pytest.mark.parametrize("line", ["Confidence: 7/5", "Confidence: 0/0"])
def test_confidence_that_means_nothing_is_noted(line):
    review = read_markdown(f"FleetReview\n{line}")

    assert review.confidence is None
    assert [each.code for each in review.notes] == ["confidence-unreadable"]


WHOLE = Provenance({"B": "large-5.6", "C": "small"}, 13.65, 1348.0, 1, 5)


@pytest.mark.parametrize("separator", [" · ", " | ", ", ", "; ", " "])
@pytest.mark.parametrize("before", ["", "**", "_", "> ", "- ", "<sub>"])
def test_provenance_is_read_behind_every_separator(separator, before):
    parts = (
        "FleetReview provenance",
        "models: B=large-5.6, C=small",
        "cost: $13.65",
        "duration: 22m 28s",
        "rounds: 1",
        "files examined: 5",
    )
    review = read_markdown(before + separator.join(parts))

    # A blank alone separates no model from what follows it.
    models = WHOLE.models if separator != " " else review.provenance.models
    assert review.provenance == Provenance(models, 13.65, 1348.0, 1, 5)
    assert set(review.provenance.models) == {"B", "C"}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("", Provenance()),
        ("rounds: 3", Provenance(rounds=3)),
        ("files examined: 12", Provenance(files_examined=12)),
        ("cost: $1,234.50, rounds: 2", Provenance(cost_usd=1234.5, rounds=2)),
        ("cost: 0.5 USD", Provenance(cost_usd=0.5)),
        ("duration: 1h 2m 3s", Provenance(duration_s=3723.0)),
        ("duration: 45 seconds", Provenance(duration_s=45.0)),
        ("duration: 500ms", Provenance(duration_s=0.5)),
        ("duration: 2 min, rounds: 1", Provenance(duration_s=120.0, rounds=1)),
        ("**models:** `B=x`", Provenance(models={"B": "x"})),
        ("files examined: 5 · rounds: 1", Provenance(rounds=1, files_examined=5)),
    ],
)
def test_every_part_of_provenance_is_optional(part, expected):
    assert read_markdown(f"FleetReview provenance · {part}").provenance == expected


def test_unreadable_part_of_provenance_spoils_no_other():
    review = read_markdown("FleetReview provenance · cost: a lot · rounds: 2")

    assert review.provenance == Provenance(rounds=2)
    assert [each.code for each in review.notes] == ["provenance-unreadable"]
    assert review.complete
