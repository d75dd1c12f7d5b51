"""Forms of the pages about webhooks out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django import forms

from notify.endpoints import LONGEST_SECRET, MOST_HOURS, SUBSCRIBABLE, Wanted
from notify.matching import SEVERITIES
from notify.models import DeliveryState, Format, HostKind

if TYPE_CHECKING:
    from notify.endpoints import BadEndpoint
    from notify.models import CodeHost, Endpoint

FORMATS = {
    Format.JSON: "json: signed, for programs",
    Format.SLACK: "slack: an incoming webhook of Slack",
    Format.TEAMS: "teams: an incoming webhook of Teams",
    Format.EMAIL: "email: mails to one address",
}
_FIELDS = {"events": "events", "format": "format", "secret": "secret", "every": "every"}
# Any, below: values of any field.


class WebhookForm(forms.Form):
    """A webhook: where to, what of, and in which form."""

    url = forms.CharField(
        max_length=2000,
        label="Send to",
        help_text="https://… or, for mails, mailto:name@example.org",
    )
    format = forms.ChoiceField(choices=list(FORMATS.items()), initial=Format.JSON)
    name = forms.CharField(required=False, max_length=100, label="What is it for?")
    events = forms.MultipleChoiceField(
        required=False,
        choices=[(one.value, one.value) for one in SUBSCRIBABLE],
        widget=forms.CheckboxSelectMultiple,
        label="Events (none: all of them)",
    )
    severity = forms.MultipleChoiceField(
        required=False,
        choices=[(one, one) for one in SEVERITIES],
        widget=forms.CheckboxSelectMultiple,
        label="Findings of (none: any severity)",
    )
    owner = forms.CharField(
        required=False, label="Only of these owners", help_text="Separated by commas."
    )
    path = forms.CharField(
        required=False,
        label="Only in these paths",
        help_text="Paths, folders or patterns with *, separated by commas.",
    )
    quiet_from = forms.TimeField(
        required=False,
        label="Quiet from",
        widget=forms.TimeInput(attrs={"type": "time"}),
    )
    quiet_to = forms.TimeField(
        required=False,
        label="Quiet until",
        help_text="In the project's zone. What comes meanwhile follows then.",
        widget=forms.TimeInput(attrs={"type": "time"}),
    )
    every = forms.IntegerField(
        min_value=0,
        max_value=MOST_HOURS,
        initial=0,
        label="Hours between two digests",
        help_text="0: each event at once.",
    )
    folds = forms.BooleanField(
        required=False,
        initial=True,
        label="Fold more than 20 events of a type in 10 minutes into one digest",
    )
    secret = forms.CharField(
        required=False,
        max_length=LONGEST_SECRET,
        label="The receiver's secret",
        help_text="Empty: one is made. Only when a webhook is made.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    @classmethod
    def of(cls, endpoint: Endpoint) -> WebhookForm:
        """Return the form of a webhook that is there."""
        stored = endpoint.filters
        quiet = stored.get("quiet") or {}
        return cls(
            initial={
                "url": endpoint.url,
                "format": endpoint.format,
                "name": endpoint.name,
                "events": endpoint.events,
                "severity": stored.get("severity", []),
                "owner": ", ".join(stored.get("owner", [])),
                "path": ", ".join(stored.get("path", [])),
                "quiet_from": quiet.get("from"),
                "quiet_to": quiet.get("to"),
                "every": endpoint.every,
                "folds": endpoint.folds,
            }
        )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if bool(data.get("quiet_from")) != bool(data.get("quiet_to")):
            self.add_error("quiet_to", "Give both times, or none.")
        return data

    def said(self) -> dict[str, Any]:
        """Return the fields of `Wanted` that the valid form says."""
        data = self.cleaned_data
        names = ("url", "format", "name", "events", "every", "folds")
        return {name: data[name] for name in names} | {"filters": self._filters()}

    def wanted(self) -> Wanted:
        return Wanted(**self.said(), secret=self.cleaned_data["secret"])

    def refuse(self, error: BadEndpoint) -> None:
        """Show what the webhook cannot be, at its field."""
        self.add_error(_FIELDS.get(error.field, "url"), error.message)

    def _filters(self) -> dict[str, Any]:
        data = self.cleaned_data
        found: dict[str, Any] = {
            "severity": data["severity"],
            "owner": _listed(data["owner"]),
            "path": _listed(data["path"]),
        }
        if data["quiet_from"] and data["quiet_to"]:
            times = (data["quiet_from"], data["quiet_to"])
            start, end = (f"{time:%H:%M}" for time in times)
            found["quiet"] = {"from": start, "to": end}
        return {name: value for name, value in found.items() if value}


class AgainForm(forms.Form):
    """What to send again: since when, of which webhook, in which state."""

    hours = forms.IntegerField(
        min_value=1, max_value=24 * 30, label="Of the last hours"
    )
    webhook = forms.IntegerField(required=False, widget=forms.HiddenInput)
    state = forms.ChoiceField(
        required=False,
        choices=[
            ("", "delivered and dead"),
            (DeliveryState.DEAD, "dead"),
            (DeliveryState.DELIVERED, "delivered"),
        ],
        label="That are",
    )

    def since(self, now: datetime) -> datetime:
        return now - timedelta(hours=self.cleaned_data["hours"])


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


class CodeHostForm(forms.Form):
    """Where pull requests live, and how to speak there."""

    kind = forms.ChoiceField(choices=HostKind.choices, label="Host")
    api_url = forms.CharField(
        required=False,
        max_length=2000,
        label="Address of its API",
        help_text="Empty: https://api.github.com, or https://gitlab.com/api/v4.",
    )
    repository = forms.CharField(
        max_length=255, help_text="owner/name; on GitLab its path or number."
    )
    app_id = forms.CharField(
        required=False,
        max_length=40,
        label="App's number (GitHub)",
        help_text="Empty: the secret is a token. Check runs need an app; with a token"
        " there are commit statuses.",
    )
    installation_id = forms.CharField(
        required=False, max_length=40, label="Installation's number (GitHub)"
    )
    secret = forms.CharField(
        required=False,
        strip=True,
        max_length=10_000,
        label="Token, or the app's private key",
        help_text="Never shown again. Empty: the one that is there stays.",
        widget=forms.Textarea(
            attrs={"rows": 3, "autocomplete": "off", "spellcheck": "false"},
        ),
    )
    comments = forms.BooleanField(
        required=False, initial=True, label="Keep one comment on each pull request"
    )
    checks = forms.BooleanField(
        required=False, initial=True, label="Keep a check on its newest commit"
    )

    @classmethod
    def of(cls, host: CodeHost | None) -> CodeHostForm:
        """Return the form of what is set; the secret is left out."""
        names = [name for name in cls.base_fields if name != "secret"]
        stored = {name: getattr(host, name) for name in names} if host else {}
        return cls(initial=stored or None)
