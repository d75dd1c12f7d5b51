"""The form in which people decide on findings."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django import forms

from findings.actions import Wish
from formats.reviews.life import State

if TYPE_CHECKING:
    from projects.models import Project

STATES = {
    State.ACCEPTED: "accept",
    State.FIXED: "fixed",
    State.FALSE_POSITIVE: "false positive",
    State.WONT_FIX: "won't fix (reason needed)",
    State.OPEN: "open again",
}


class DecisionForm(forms.Form):
    """What is decided of the chosen findings; what is left empty stays as it is."""

    finding = forms.TypedMultipleChoiceField(coerce=int)
    state = forms.ChoiceField(
        choices=[("", "–"), *STATES.items()], required=False, label="State"
    )
    reason = forms.CharField(required=False, max_length=2_000)
    owner = forms.CharField(required=False, max_length=200)
    nobody = forms.BooleanField(required=False)
    due = forms.DateField(required=False)

    def __init__(self, data: Any, *, project: Project) -> None:  # Any: a QueryDict
        super().__init__(data)
        self._project = project
        chosen = [each for each in data.getlist("finding") if each.isdigit()][:5_000]
        self.fields["finding"].choices = [  # type: ignore[attr-defined]
            (each, each) for each in chosen if len(each) < 19
        ]

    def wish(self) -> Wish:
        """Return what is decided."""
        data = self.cleaned_data
        owner = "" if data["nobody"] else data["owner"] or None
        return Wish(
            state=State(data["state"]) if data["state"] else None,
            reason=data["reason"],
            owner=owner,
            due=self._end_of(data["due"]) if data["due"] else None,
        )

    def _end_of(self, day: Any) -> datetime:  # Any: a date
        zone = ZoneInfo(self._project.zone)
        return datetime.combine(day, time(23, 59, 59), zone).astimezone(UTC)
