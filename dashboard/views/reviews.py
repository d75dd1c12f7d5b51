"""The weekly review: its agenda, decisions in it, its end, its minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import choice, number, text
from dashboard.fragments import render_part
from dashboard.meeting import figures_of, parts_of
from dashboard.meeting_forms import ChoiceForm
from projects.models import Role
from review.agenda import NotYet, current_week, review_of, weeks_of
from review.choices import Closed, choose
from review.closing import close as close_review
from review.deciding import Stale, Undecidable
from review.minutes import as_csv, as_markdown, summary
from review.news import closed_by, newest_of, news_of
from review.weeks import NotAWeek, read_week

if TYPE_CHECKING:
    from django.http import HttpRequest

    from projects.access import Access
    from review.shapes import Review
    from review.weeks import IsoWeek

_UNCHANGED = "Nothing was stored."


@require_GET
@project_page()
def newest(request: HttpRequest, access: Access) -> HttpResponse:
    """Show the review of this week."""
    week = current_week(access.project, now=timezone.now())
    return _page(request, access, week)


@require_GET
@project_page()
def review(request: HttpRequest, access: Access, week: str) -> HttpResponse:
    """Show the review of a week; a past one as it was."""
    return _page(request, access, _week_or_404(week))


@require_GET
@project_page()
def news(request: HttpRequest, access: Access, week: str) -> HttpResponse:
    """Say what others decided since the page was shown."""
    name = _week_or_404(week).name
    seen = number(request.GET, "seen", default=0, high=2**62)
    told = news_of(
        access.project.pk, name, seen=seen, without=request.user.get_username()
    )
    context = {
        "access": access,
        "week": name,
        "news": told,
        "closer": closed_by(access.project.pk, name),
        "seen": seen,
    }
    return render(request, "dashboard/review_news.html", context)


@require_POST
@project_page(needs=Role.TRIAGER)
def decide(request: HttpRequest, access: Access, week: str) -> HttpResponse:
    """Decide on one row, on what the page showed of it or not at all."""
    wanted, form = _week_or_404(week), ChoiceForm(request.POST)
    by, now = request.user.get_username(), timezone.now()
    if not form.is_valid():
        named = ", ".join(name.replace("_", " ") for name in form.errors)
        messages.error(request, f"A value makes no sense: {named}. {_UNCHANGED}")
        return _back(request, access, wanted)
    subject, version = form.cleaned_data["subject"], form.cleaned_data["version"]
    try:
        choose(
            access.project,
            wanted,
            subject,
            form.pick(),
            version=version,
            by=by,
            now=now,
        )
    except Stale as error:
        said = f"{_sentence(error)} {_UNCHANGED} The row shows what holds now."
        messages.error(request, said)
    except (Undecidable, Closed) as error:
        messages.error(request, f"{_sentence(error)} {_UNCHANGED}")
    else:
        messages.success(request, "Stored.")
    return _back(request, access, wanted)


@require_POST
@project_page(needs=Role.TRIAGER)
def close(request: HttpRequest, access: Access, week: str) -> HttpResponse:
    """End a review: it reads as it is now for ever, and its minutes are sent."""
    wanted, now = _week_or_404(week), timezone.now()
    try:
        done = close_review(
            access.project, wanted, by=request.user.get_username(), now=now
        )
    except (Closed, NotYet) as error:
        messages.error(request, _sentence(error))
    else:
        messages.success(request, f"The review is closed. {summary(done)}")
    return _back(request, access, wanted)


@require_GET
@project_page()
def minutes(request: HttpRequest, access: Access, week: str) -> HttpResponse:
    """Give the minutes as Markdown or CSV."""
    found = _review_or_404(access, _week_or_404(week))
    kind = choice(request.GET, "format", ("md", "csv"), default="md")
    if kind == "csv":
        answer = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
    else:
        told = as_markdown(found, access.project)
        answer = HttpResponse(told, content_type="text/markdown; charset=utf-8")
    name = f"{access.project.owner}-{access.project.name}-{found.week.name}.{kind}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _page(request: HttpRequest, access: Access, week: IsoWeek) -> HttpResponse:
    found = _review_or_404(access, week)
    now = timezone.now()
    context = {
        "access": access,
        "tab": "review",
        "review": found,
        "agenda": found.agenda,
        "parts": parts_of(found),
        "figures": figures_of(found),
        "sentence": summary(found),
        "weeks": weeks_of(access.project.pk),
        "current": current_week(access.project, now=now),
        "decides": access.triages and not found.closed,
        "seen": newest_of(access.project.pk, week.name),
        "command": upload_command(request, access.project),
    }
    return render_part(request, "dashboard/review.html", "agenda", context)


def _week_or_404(name: str) -> IsoWeek:
    try:
        return read_week(name)
    except NotAWeek as error:
        raise Http404 from error


def _review_or_404(access: Access, week: IsoWeek) -> Review:
    try:
        return review_of(access.project, week, now=timezone.now())
    except NotYet as error:
        raise Http404 from error


def _back(request: HttpRequest, access: Access, week: IsoWeek) -> HttpResponse:
    """Return to the row that was decided on."""
    answer = redirect(
        "review-week", access.project.owner, access.project.name, week.name
    )
    at = text(request.POST, "at")
    if at.replace("-", "").replace("_", "").isalnum():
        answer["Location"] += f"#{at}"
    return answer


def _sentence(error: Exception) -> str:
    said = str(error)
    return f"{said[:1].upper()}{said[1:]}."
