"""What the page of a test says of its class, its leakers and who ran before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.leak_words import stories, worth_a_look
from formats.outcomes import FAILING
from leaks import queries
from leaks.totals import leaker_ids
from results.queries.before import ran_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaks.shapes import PairRow
    from results.queries.shapes import HistoryCell

_SHOWN = 5  # candidates
_FAILURES = 5  # of which is shown who ran before


def beliefs_of(test: int, cells: Sequence[HistoryCell]) -> dict[str, object]:
    """Return the context of a test: `cells` are its results, the newest first."""
    believed = queries.victim(test)
    shown = worth_a_look(believed.candidates)[:_SHOWN]
    failed = [cell for cell in cells if cell.outcome in FAILING or cell.flaky]
    told = ran_before(
        test,
        [cell.run for cell in failed[:_FAILURES]],
        suspects={pair.test for pair in shown if _suspected(pair)},
    )
    leaker = queries.leaker_of(test)
    return {
        "believed": believed,
        "stories": stories(believed.evidence),
        "candidates": shown,
        "leaker_ids": leaker_ids(pair.test for pair in shown),
        "leads": [
            (cell, told[cell.run]) for cell in failed[:_FAILURES] if cell.run in told
        ],
        "leaker": leaker,
        "victims": worth_a_look(leaker.victims) if leaker else [],
    }


def _suspected(pair: PairRow) -> bool:
    return pair.kind == "victim" and pair.status != "refuted"
