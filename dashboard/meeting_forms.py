"""The form in which a row of the weekly review is decided."""

from __future__ import annotations

from django import forms

from review.choices import Decision, Pick

DECISIONS = {
    Decision.ASSIGN: "fix it (owner, fix by)",
    Decision.MUTE: "mute (until, or failures)",
    Decision.QUARANTINE: "quarantine (until)",
    Decision.ACCEPT: "accept (reason)",
    Decision.FIXED: "fixed (at a commit)",
}
# What makes sense for each kind of item.
ALLOWED = {
    "leaker": tuple(Decision),
    "test": tuple(Decision),
    "finding": (Decision.ASSIGN, Decision.ACCEPT, Decision.FIXED),
    "pull": (Decision.ASSIGN, Decision.ACCEPT),
}


class ChoiceForm(forms.Form):
    """What is decided of one subject; `version` is that which the page showed."""

    subject = forms.CharField(max_length=40)
    version = forms.IntegerField(min_value=0)
    decision = forms.ChoiceField(
        choices=[("", "–"), *DECISIONS.items()], required=False
    )
    owner = forms.CharField(required=False, max_length=200)
    fix_by = forms.DateField(required=False)
    until = forms.DateField(required=False)
    failures = forms.IntegerField(required=False, min_value=0, max_value=1_000_000)
    commit = forms.CharField(required=False, max_length=64)
    reason = forms.CharField(required=False, max_length=2_000)
    note = forms.CharField(required=False, max_length=2_000)

    def pick(self) -> Pick:
        """Return what is decided."""
        data = self.cleaned_data
        return Pick(
            decision=Decision(data["decision"]) if data["decision"] else None,
            owner=data["owner"],
            fix_by=data["fix_by"],
            until=data["until"],
            failures=data["failures"],
            commit=data["commit"],
            reason=data["reason"],
            note=data["note"],
        )
