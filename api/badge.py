"""`/badge/{owner}/{name}.svg`: the health of a default branch in one small picture.

Guarantees: a project that is not public, and not readable by who asks, gives the same
404 as one that does not exist; the picture holds no style or script of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from api.access import optional_asker, project_of
from api.problems import ApiError
from projects.access import NoSuchProject, access_project
from results.queries import runs

if TYPE_CHECKING:
    from django.http import HttpRequest

    from projects.models import Project
    from results.queries.shapes import ProjectSummary

_GREEN, _RED, _AMBER, _GREY = "#1a7f37", "#b42318", "#8a5a00", "#57606a"
_COLOURS = {"passed": _GREEN, "failed": _RED, "damaged": _RED, "incomplete": _AMBER}
_LABEL = "tests"
_CHARACTER = 6.6  # pixels of a mean character in this size
_PADDING = 10


@require_safe
def badge(request: HttpRequest, p: str) -> HttpResponse:
    """Answer the picture, or 404 with one that says "unknown"."""
    project = _readable(request, p)
    if project is None:
        return _picture("unknown", _GREY, status=404)
    summary = runs.summaries_for([project.pk]).get(project.pk)
    return _picture(*_words(summary), status=200)


def _readable(request: HttpRequest, slug: str) -> Project | None:
    try:
        asker = optional_asker(request)
        if asker is not None:
            return project_of(asker, slug)
        owner, _, name = slug.partition("/")
        return access_project(AnonymousUser(), owner, name).project
    except (ApiError, NoSuchProject):
        return None


def _words(summary: ProjectSummary | None) -> tuple[str, str]:
    """Return what the badge says, and its colour: the last run tells."""
    run = summary and (summary.last_default_run or summary.last_run)
    if not run:
        return "no runs yet", _GREY
    words = run.outcome.replace("_", " ")
    failing = run.counts.failed + run.counts.errors
    if run.outcome == "passed":
        words = f"{run.counts.passed} passed"
    elif run.outcome == "failed" and failing:
        words = f"{failing} failing"
    return words, _COLOURS.get(run.outcome, _GREY)


def _picture(words: str, colour: str, *, status: int) -> HttpResponse:
    left, right = (round(len(text) * _CHARACTER) + _PADDING for text in (_LABEL, words))
    context = {
        "label": _LABEL,
        "words": words,
        "colour": colour,
        "left": left,
        "right": right,
        "width": left + right,
        "left_middle": left / 2,
        "right_middle": left + right / 2,
    }
    response = HttpResponse(
        render_to_string("api/badge.svg", context),
        content_type="image/svg+xml; charset=utf-8",
        status=status,
    )
    # Proxies of images keep for long what does not say otherwise.
    response["Cache-Control"] = "no-cache, max-age=0"
    return response
