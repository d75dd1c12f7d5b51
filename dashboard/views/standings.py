"""Deciding on tests, one or several; and the owners of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.access import project_page
from dashboard.filters import text
from dashboard.standing_forms import StandingForm
from dashboard.wording import counted
from projects.models import Role
from results.models import TestCase
from review import epochs, owners
from review.deciding import Stale, Undecidable, decide, decide_all

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from projects.access import Access

_UNCHANGED = "Nothing was stored."
TRIED = 8  # files of tests that the page of owners shows


@require_POST
@project_page(needs=Role.TRIAGER)
def decide_on(request: HttpRequest, access: Access) -> HttpResponse:
    """Decide on the chosen tests, all of them or none."""
    form = StandingForm(request.POST, project=access.project)
    if not form.is_valid():
        fault = "Choose at least one test." if "test" in form.errors else ""
        messages.error(request, f"{fault or 'A value makes no sense.'} {_UNCHANGED}")
        return _back(request, access)
    try:
        done = _decide(form, access, by=request.user.get_username())
    except (Undecidable, Stale) as error:
        said = str(error)
        messages.error(request, f"{said[:1].upper()}{said[1:]}. {_UNCHANGED}")
    else:
        messages.success(request, done)
    return _back(request, access)


@require_http_methods(["GET", "POST"])
@project_page(needs=Role.ADMIN)
def owner_file(request: HttpRequest, access: Access) -> HttpResponse:
    """Show how the CODEOWNERS file is read, and take another one."""
    project = access.project
    if request.method == "POST":
        return _save_owners(request, access)
    read = owners.owners_of(project.pk)
    files = TestCase.objects.filter(project=project).exclude(file="")
    names = list(
        files.order_by("file").values_list("file", flat=True).distinct()[:5_000]
    )
    owned = [(name, ", ".join(read.of(name))) for name in names]
    context = {
        "access": access,
        "tab": "settings",
        "section": "owners",
        "stored": owners.stored(project.pk),
        "read": read,
        "files": len(owned),
        "unowned": sum(not who for _, who in owned),
        "tried": [one for one in owned if one[1]][:TRIED],
    }
    return render(request, "dashboard/settings_owners.html", context)


def _save_owners(request: HttpRequest, access: Access) -> HttpResponse:
    sent = request.FILES.get("file")
    told = request.POST.get("text", "")
    if sent is not None:
        told = sent.read(owners.MOST_BYTES + 1).decode("utf-8", errors="replace")
    by = request.user.get_username()
    try:
        read = owners.save(access.project, told, by=by, now=timezone.now())
    except owners.TooLong as error:
        messages.error(request, f"{error}. {_UNCHANGED}")
    else:
        messages.success(request, f"Stored: {counted(len(read.rules), 'rule')}.")
    return redirect("owners", access.project.owner, access.project.name)


def _decide(form: StandingForm, access: Access, *, by: str) -> str:
    """Do what was asked; return what was done, in a sentence."""
    project, now = access.project, timezone.now()
    ids, data = sorted(set(form.cleaned_data["test"])), form.cleaned_data
    known = TestCase.objects.filter(project=project, pk__in=ids).count()
    if known != len(ids):
        raise Undecidable("one of these tests is not here")
    wish = form.wish()
    if len(ids) == 1:
        decide(project, ids[0], wish, by=by, now=now, version=data["version"])
    else:
        decide_all(project, ids, wish, by=by, now=now)
    if data["fixed"]:
        for test in ids:
            epochs.begin(
                project,
                test,
                by=by,
                now=now,
                commit=data["commit"],
                note=data["reason"],
            )
    return f"Stored for {counted(len(ids), 'test')}."


def _back(request: HttpRequest, access: Access) -> HttpResponse:
    """Return to the page that the decision was made on, and nowhere else."""
    target = text(request.POST, "next")
    if url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        return redirect(target)
    return redirect("tests", access.project.owner, access.project.name)
