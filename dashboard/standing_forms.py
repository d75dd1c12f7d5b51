"""The form in which people decide on tests, one or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from review.deciding import LIFTABLE, Wish
from review.ends import end_of_day

if TYPE_CHECKING:
    from projects.models import Project

LIFTS = {
    "quarantine": "end its quarantine",
    "mute": "unmute",
    "accept": "accept no longer",
    "owner": "no owner",
    "fix_by": "no date",
    "ticket": "no ticket",
}
_MOST = 500  # tests at once


class StandingForm(forms.Form):
    """What is decided; what is left empty stays as it is."""

    test = forms.TypedMultipleChoiceField(coerce=int)
    version = forms.IntegerField(required=False, min_value=0)
    owner = forms.CharField(required=False, max_length=200)
    fix_by = forms.DateField(required=False)
    quarantine_until = forms.DateField(required=False)
    mute_until = forms.DateField(required=False)
    mute_failures = forms.IntegerField(required=False, min_value=0, max_value=1_000_000)
    accept = forms.BooleanField(required=False)
    ticket = forms.CharField(required=False, max_length=500)
    reason = forms.CharField(required=False, max_length=2_000)
    lift = forms.ChoiceField(
        required=False, choices=[("", "–"), *((one, one) for one in LIFTABLE)]
    )
    fixed = forms.BooleanField(required=False)
    commit = forms.CharField(required=False, max_length=64)

    def __init__(self, data: Any, *, project: Project) -> None:  # Any: a QueryDict
        super().__init__(data)
        self._project = project
        chosen = [each for each in data.getlist("test") if each.isdigit()][:_MOST]
        self.fields["test"].choices = [  # type: ignore[attr-defined]
            (each, each) for each in chosen if len(each) < 19
        ]

    def wish(self) -> Wish:
        """Return what is decided."""
        data, project = self.cleaned_data, self._project
        quarantine, mute = data["quarantine_until"], data["mute_until"]
        return Wish(
            owner=data["owner"] or None,
            fix_by=data["fix_by"],
            quarantine_until=end_of_day(project, quarantine) if quarantine else None,
            mute_until=end_of_day(project, mute) if mute else None,
            mute_failures=data["mute_failures"],
            accept=data["accept"],
            ticket=data["ticket"] or None,
            reason=data["reason"],
            lift=frozenset({data["lift"]} - {""}),
        )
