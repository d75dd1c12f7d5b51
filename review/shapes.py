"""What a review is made of: frozen values, and their JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from review.models import Choice, Week
    from review.weeks import IsoWeek

type Json = dict[str, Any]  # Any: JSON


class Kind(StrEnum):
    """What an item is about; its page is found by it and the item's id."""

    LEAKER = "leaker"
    TEST = "test"
    FINDING = "finding"
    PULL = "pull"


class Section(StrEnum):
    """The parts of the agenda, in the order in which they are talked about."""

    CARRIED = "carried_over"
    LEAKERS = "new_leakers"
    FLAKY = "newly_flaky"
    BLOCKED = "newly_blocked"
    FINDINGS = "new_findings"
    COST = "worst_by_cost"
    OVERDUE = "overdue"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Item:
    """One row of the agenda. `subject` is what decisions are made on: `test:12`.

    A leaker and its test share a subject. `id` is that of its page; `weeks` says how
    many reviews it was carried over.
    """

    subject: str
    kind: Kind
    id: int
    title: str
    why: str
    figures: Json = field(default_factory=dict)
    weeks: int = 0


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure of the week and of the one before, with what it is out of."""

    name: str
    title: str
    unit: str  # share, count, seconds
    now: float | None
    before: float | None
    of: int = 0
    of_before: int = 0
    of_what: str = ""


@dataclass(frozen=True, slots=True)
class Agenda:
    """What a week has to talk about, as of a moment. `totals` counts whole sections,
    of which only the first items are listed."""

    week: str
    as_of: datetime
    since: datetime
    sections: Mapping[Section, list[Item]]
    totals: Mapping[Section, int]
    trends: list[Trend]
    bad_runs: int = 0
    runs: int = 0

    def items(self) -> Iterator[tuple[Section, Item]]:
        for section in Section:
            for item in self.sections.get(section, []):
                yield section, item

    @property
    def subjects(self) -> list[str]:
        """Return what there is to decide on, each once, in the order of the agenda."""
        found = [i.subject for section, i in self.items() if section != Section.FIXED]
        return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Review:
    """A week's agenda with what was decided. `stored`: a snapshot, as it was then;
    else it is told from today's facts."""

    week: IsoWeek
    agenda: Agenda
    choices: Mapping[str, Choice]
    row: Week | None
    stored: bool
    past: bool

    @property
    def closed(self) -> bool:
        return self.row is not None and self.row.closed_at is not None

    @property
    def state(self) -> str:
        if self.closed:
            return "closed"
        return "ended" if self.past else "open"

    @property
    def undecided(self) -> list[str]:
        return [one for one in self.agenda.subjects if not is_decided(self, one)]

    @property
    def decided(self) -> int:
        return len(self.agenda.subjects) - len(self.undecided)


def is_decided(review: Review, subject: str) -> bool:
    """Tell whether a subject needs no further talk this week; a note alone decides
    nothing."""
    return decides(review.choices.get(subject))


def decides(choice: Choice | None) -> bool:
    return choice is not None and bool(choice.decision or choice.owner or choice.fix_by)


def to_json(agenda: Agenda) -> Json:
    return {
        "week": agenda.week,
        "as_of": agenda.as_of.isoformat(),
        "since": agenda.since.isoformat(),
        "sections": {
            section.value: [asdict(item) for item in items]
            for section, items in agenda.sections.items()
        },
        "totals": {section.value: n for section, n in agenda.totals.items()},
        "trends": [asdict(trend) for trend in agenda.trends],
        "bad_runs": agenda.bad_runs,
        "runs": agenda.runs,
    }


def from_json(stored: Json) -> Agenda:
    return Agenda(
        week=stored["week"],
        as_of=datetime.fromisoformat(stored["as_of"]),
        since=datetime.fromisoformat(stored["since"]),
        sections={
            Section(name): [Item(**one | {"kind": Kind(one["kind"])}) for one in items]
            for name, items in stored["sections"].items()
        },
        totals={Section(name): n for name, n in stored["totals"].items()},
        trends=[Trend(**one) for one in stored["trends"]],
        bad_runs=stored["bad_runs"],
        runs=stored["runs"],
    )
