"""The form in which people decide on a leaker."""

from __future__ import annotations

from django import forms

from leaks.decisions import LONGEST_COMMIT, LONGEST_NOTE, LONGEST_OWNER, Wish
from leaks.models import LeakerState

CHOICES = {
    LeakerState.FIXED: "fixed at a commit",
    LeakerState.MUTED: "mute (why?)",
    LeakerState.DISMISSED: "dismiss (why?)",
    LeakerState.OPEN: "open again",
}


class LeakerDecisionForm(forms.Form):
    """What is decided; `seen` is the state that the page showed."""

    seen = forms.ChoiceField(choices=LeakerState)
    state = forms.ChoiceField(choices=[("", "–"), *CHOICES.items()], required=False)
    commit = forms.CharField(required=False, max_length=LONGEST_COMMIT)
    ticket = forms.CharField(required=False, max_length=2_000, empty_value="")
    owner = forms.CharField(required=False, max_length=LONGEST_OWNER)
    note = forms.CharField(required=False, max_length=LONGEST_NOTE)

    def wish(self) -> Wish:
        """Return what is decided."""
        data = self.cleaned_data
        return Wish(
            state=LeakerState(data["state"]) if data["state"] else None,
            commit=data["commit"],
            ticket=data["ticket"] if "ticket" in self.data else None,
            owner=data["owner"] if "owner" in self.data else None,
            note=data["note"],
        )
