"""Forms of the settings pages. Filters in the query string are in `filters.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zoneinfo import available_timezones

from django import forms

from ingest.models import RouteKind
from projects.administration import Settings
from projects.creation import SLUG
from projects.models import Role, Scope

if TYPE_CHECKING:
    from projects.options import Options

REPEATS = {
    "auto": "decide by what the report declares",
    "attempts": "as attempts of one test",
    "invocations": "as one test that ran several times",
}


class Lines(forms.CharField):
    """A text area with one value a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def to_python(self, value: Any) -> tuple[str, ...]:  # type: ignore[override]
        text = super().to_python(value) or ""
        return tuple(line.strip() for line in text.splitlines() if line.strip())

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value


def _due_days(severity: str) -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=3650, label=f"{severity} is due within, in days"
    )


class SettingsForm(forms.Form):
    """The project's settings; `settings()` is what the form says."""

    title = forms.CharField(
        required=False, max_length=200, help_text="Shown beside owner/name."
    )
    default_branch = forms.CharField(
        max_length=255,
        help_text="Trends and verdicts speak of this branch. Runs are sorted anew"
        " when it changes.",
    )
    zone = forms.CharField(
        max_length=64,
        label="Time zone",
        help_text="Days and weeks begin at midnight here, for example Europe/Zurich."
        " Runs are sorted anew when it changes.",
        widget=forms.TextInput(attrs={"list": "zones", "autocomplete": "off"}),
    )
    public = forms.BooleanField(
        required=False,
        label="Everyone may read this project without signing in",
    )
    repeats = forms.ChoiceField(
        choices=list(REPEATS.items()),
        label="The same test twice in one report counts",
    )
    strip_path_prefixes = Lines(
        required=False,
        label="Path prefixes to strip",
        help_text="One a line. A test then has one identity wherever it was checked"
        " out.",
    )
    add_path_prefix = forms.CharField(
        required=False, max_length=300, label="Path prefix to add"
    )
    strip_classname_prefixes = Lines(
        required=False, label="Class name prefixes to strip", help_text="One a line."
    )
    add_classname_prefix = forms.CharField(
        required=False, max_length=300, label="Class name prefix to add"
    )
    window_days = forms.IntegerField(
        min_value=1, max_value=365, label="Window of the pages, in days"
    )
    keep_bodies_days = forms.IntegerField(
        min_value=1, max_value=3650, label="Keep raw uploads, in days"
    )
    keep_facts_days = forms.IntegerField(
        min_value=1, max_value=3650, label="Keep results and failures, in days"
    )
    due_p0_days = _due_days("P0")
    due_p1_days = _due_days("P1")
    due_p2_days = _due_days("P2")
    due_p3_days = _due_days("P3")

    def clean_zone(self) -> str:
        zone: str = self.cleaned_data["zone"]
        if zone not in available_timezones():
            raise forms.ValidationError(f"{zone} is no time zone of the IANA list.")
        return zone

    def settings(self, before: Options) -> Settings:
        """Return the settings that the valid form says."""
        data = self.cleaned_data
        options = {
            name: data[name]
            for name in data
            if name not in ("title", "public", "default_branch", "zone")
        }
        return Settings(
            title=data["title"],
            public=data["public"],
            default_branch=data["default_branch"],
            zone=data["zone"],
            options=replace(before, **options),
        )


class TokenForm(forms.Form):
    """A new token: what it is for, and what it may do."""

    name = forms.CharField(max_length=100, label="What is it for?")
    scopes = forms.MultipleChoiceField(
        choices=[
            (Scope.UPLOAD, "upload: send reports"),
            (Scope.READ, "read: ask the API"),
            (Scope.ADMIN, "admin: retry, change settings"),
        ],
        widget=forms.CheckboxSelectMultiple,
        label="It may",
    )

    def chosen(self) -> list[Scope]:
        return [Scope(value) for value in self.cleaned_data["scopes"]]


ROUTE_KINDS = {
    RouteKind.GATE: "gate: leaks that a gate found",
    RouteKind.EFFECTS: "effects: an effect ledger",
    RouteKind.REVIEW: "review: findings of reviewers",
    RouteKind.GITHUB: "github: hooks of GitHub",
    RouteKind.GITLAB: "gitlab: hooks of GitLab",
}


class RouteForm(forms.Form):
    """A new webhook route."""

    name = forms.CharField(
        required=False, max_length=100, label="What is it for?", strip=True
    )
    kind = forms.ChoiceField(choices=list(ROUTE_KINDS.items()), label="It takes")

    def chosen(self) -> RouteKind:
        return RouteKind(self.cleaned_data["kind"])


class AttachForm(forms.Form):
    """Where an upload belongs: one run, or one pull request."""

    run = forms.CharField(
        required=False,
        max_length=255,
        help_text="Its name, or the number in its address.",
    )
    pr = forms.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, label="or pull request"
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and bool(data["run"]) == bool(data["pr"]):
            raise forms.ValidationError("Name one run, or one pull request.")
        return data


ROLES = {
    Role.VIEWER: "viewer: reads",
    Role.TRIAGER: "triager: excludes runs, retries uploads",
    Role.ADMIN: "admin: settings, tokens, members",
}


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=list(ROLES.items()))

    def chosen(self) -> Role:
        return Role(self.cleaned_data["role"])


class MemberForm(RoleForm):
    account = forms.CharField(max_length=254, label="User name or e-mail address")
    field_order = ["account", "role"]


class NewProjectForm(forms.Form):
    slug = forms.RegexField(
        SLUG,
        max_length=201,
        label="Name",
        help_text="As owner/name, often the repository's.",
        error_messages={
            "invalid": "Use owner/name with letters, digits, dot, underscore, hyphen."
        },
    )
