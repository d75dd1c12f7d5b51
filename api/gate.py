"""What a CI step should do with a run."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema

from api.access import asker_of, project_by_id
from api.problems import NotFound
from api.runs import NO_RUN
from results.queries.runs import get_run
from review import gate

router = Router(tags=["runs"])


class GateShape(Schema):
    answer: Literal["pass", "fail", "wait"]
    unquarantined: int = Field(description="tests that fail the build")
    quarantined: list[str] = Field(description="node ids that would have failed it")
    reasons: list[str]


@router.get("/runs/{number:id}/gate", response=GateShape)
def get_gate(request: HttpRequest, id: int) -> GateShape:
    """Whether to pass, fail or wait: quarantined tests do not count here."""
    detail = get_run(id)
    if detail is None:
        raise NotFound(NO_RUN)
    project_by_id(asker_of(request), detail.row.project_id, otherwise=NO_RUN)
    told = gate.gate_of(detail, now=timezone.now())
    return GateShape(
        answer=told.answer.value,
        unquarantined=told.unquarantined,
        quarantined=told.quarantined,
        reasons=told.reasons,
    )
