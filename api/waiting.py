"""What is not done yet, by stage: the pipeline's stages, asked where each one lives.

A test holds these names against the pipeline's own list.
"""

from __future__ import annotations

from findings import storing as findings
from ingest import claims
from leaks import recounting as leaks
from notify import fanning, remarking, sending
from pulls import facts, verdicts
from results.queries import state
from review import keeping as review


def waiting(project_id: int | None = None) -> dict[str, int]:
    """Return how many items wait in each stage, of one project or of all."""
    return {
        "ingest": claims.waiting(project_id),
        "findings": findings.waiting(project_id),
        **state.waiting(project_id),
        "leaks": leaks.waiting(project_id),
        "pulls": facts.waiting(project_id),
        "verdicts": verdicts.waiting(project_id),
        "review": review.waiting(project_id),
        "events": fanning.waiting(project_id),
        "deliver": sending.waiting(project_id),
        "remarks": remarking.waiting(project_id),
    }
