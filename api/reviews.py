"""The weekly review of a project, as JSON, Markdown and CSV."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from api.access import asker_of, project_of
from api.addresses import review_url
from api.problems import FieldError, Invalid, NotFound
from projects.models import Project
from review.agenda import NotYet, review_of
from review.minutes import as_csv, as_markdown, summary
from review.models import Choice
from review.shapes import Item, Review, Section, Trend, decides
from review.weeks import NotAWeek, read_week

router = Router(tags=["review"])

SectionItems = dict[str, Any]


class AgendaChoiceShape(Schema):
    """What was decided of a subject in this week."""

    decision: str | None = Field(
        description="assign, mute, quarantine, accept or fixed; null: only a note"
    )
    owner: str | None
    fix_by: date | None
    until: date | None
    failures: int | None = Field(description="a mute ends above so many")
    reason: str | None
    note: str | None
    by: str
    at: datetime


class AgendaItemShape(Schema):
    """A row of the agenda. Decisions are made on its subject."""

    subject: str = Field(description="test:id, finding:id or pull:number")
    kind: Literal["leaker", "test", "finding", "pull"]
    id: int
    title: str
    why: str
    figures: dict[str, Any]
    carried_weeks: int
    decided: bool
    choice: AgendaChoiceShape | None


class WeekTrendShape(Schema):
    metric: str
    title: str
    unit: Literal["share", "count", "seconds"]
    now: float | None = Field(description="null: nothing was measured")
    before: float | None
    of: int
    of_before: int
    of_what: str


class WeeklyReviewShape(Schema):
    """Sections hold the first 50 items each; `totals` counts all."""

    project: str
    week: str
    first_day: date
    last_day: date
    state: Literal["open", "ended", "closed"]
    snapshot: bool = Field(description="as it was then; else told from today's facts")
    as_of: datetime
    closed_at: datetime | None
    closed_by: str | None
    sentence: str
    decided: int
    undecided: int
    carried_over: list[AgendaItemShape]
    new_leakers: list[AgendaItemShape]
    newly_flaky: list[AgendaItemShape]
    newly_blocked: list[AgendaItemShape]
    new_findings: list[AgendaItemShape] = Field(description="P0 and P1")
    worst_by_cost: list[AgendaItemShape]
    overdue: list[AgendaItemShape]
    fixed: list[AgendaItemShape]
    totals: dict[str, int]
    trends: list[WeekTrendShape]
    runs: int
    bad_runs: int = Field(description="left out: more than 80 % failed")
    url: str


class Format(Schema):
    format: Literal["json", "md", "csv"] = "json"


@router.get("/projects/{project:p}/review/{week}", response=WeeklyReviewShape)
def get_review(
    request: HttpRequest, p: str, week: str, asked: Query[Format]
) -> WeeklyReviewShape | HttpResponse:
    """The agenda of an ISO week, what was decided, and its trends."""
    project = project_of(asker_of(request), p)
    try:
        wanted = read_week(week)
        review = review_of(project, wanted, now=timezone.now())
    except NotAWeek as error:
        raise Invalid(FieldError("week", str(error))) from None
    except NotYet:
        raise NotFound(f"The week {week} has not begun.") from None
    if asked.format == "md":
        return _file(as_markdown(review, project), "text/markdown", f"{week}.md")
    if asked.format == "csv":
        return _file(as_csv(review), "text/csv", f"{week}.csv")
    return _review(review, project)


def _file(text: str, kind: str, name: str) -> HttpResponse:
    answer = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="review-{name}"'
    return answer


def _review(review: Review, project: Project) -> WeeklyReviewShape:
    agenda, row = review.agenda, review.row
    sections: SectionItems = {
        section.value: [_item(item, review) for item in agenda.sections[section]]
        for section in Section
    }
    return WeeklyReviewShape(
        project=project.slug,
        week=review.week.name,
        first_day=review.week.first,
        last_day=review.week.last,
        state=review.state,  # type: ignore[arg-type] # one of the three
        snapshot=review.stored,
        as_of=agenda.as_of,
        closed_at=row.closed_at if row else None,
        closed_by=(row.closed_by or None) if row else None,
        sentence=summary(review),
        decided=review.decided,
        undecided=len(review.undecided),
        totals={section.value: n for section, n in agenda.totals.items()},
        trends=[_trend(trend) for trend in agenda.trends],
        runs=agenda.runs,
        bad_runs=agenda.bad_runs,
        url=review_url(project, review.week.name),
        **sections,
    )


def _item(item: Item, review: Review) -> AgendaItemShape:
    choice = review.choices.get(item.subject)
    return AgendaItemShape(
        subject=item.subject,
        kind=item.kind.value,
        id=item.id,
        title=item.title,
        why=item.why,
        figures=item.figures,
        carried_weeks=item.weeks,
        decided=decides(choice),
        choice=_choice(choice) if choice and choice.version else None,
    )


def _choice(choice: Choice) -> AgendaChoiceShape:
    return AgendaChoiceShape(
        decision=choice.decision or None,
        owner=choice.owner or None,
        fix_by=choice.fix_by,
        until=choice.until,
        failures=choice.failures,
        reason=choice.reason or None,
        note=choice.note or None,
        by=choice.by,
        at=choice.at,
    )


def _trend(trend: Trend) -> WeekTrendShape:
    return WeekTrendShape(
        metric=trend.name,
        title=trend.title,
        unit=trend.unit,  # type: ignore[arg-type] # one of the three
        now=trend.now,
        before=trend.before,
        of=trend.of,
        of_before=trend.of_before,
        of_what=trend.of_what,
    )
