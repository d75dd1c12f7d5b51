"""Uploads: everything that was received, its state, and its bytes as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from django.contrib import messages
from django.http import FileResponse, Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import project_page
from dashboard.commands import upload_command
from dashboard.filters import choice, number, text
from dashboard.forms import AttachForm
from dashboard.fragments import render_part
from dashboard.paging import page_of
from ingest import attaching, bodies, handovers
from ingest.models import State, Upload
from ingest.queries import counts, problems
from ingest.replaying import retry as try_again
from projects.models import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse, HttpResponseBase

    from projects.access import Access

_DEAD_SHOWN = 20


@require_GET
@project_page()
def upload_list(request: HttpRequest, access: Access) -> HttpResponse:
    """List what was received: what is given up first, then the newest."""
    state = choice(request.GET, "state", State.values)
    received = Upload.objects.filter(project=access.project).select_related("route")
    dead = received.filter(state=State.DEAD).order_by("-received_at")
    rows = received.order_by("-received_at", "-id")
    if state:
        rows = rows.filter(state=state)
    context = {
        "access": access,
        "tab": "uploads",
        "state": state,
        "states": State.values,
        **_in_short(access),
        "dead": list(dead[:_DEAD_SHOWN]) if state != State.DEAD else [],
        "page": page_of(rows, number(request.GET, "page", default=1, low=1)),
        "command": upload_command(request, access.project),
    }
    return render_part(request, "dashboard/uploads.html", "results", context)


def _in_short(access: Access) -> dict[str, int]:
    """Count what was received, refused, and is not done yet."""
    found = counts(access.project)
    unfinished = (State.ADMITTED, State.PROCESSING, State.FAILED)
    return {
        "total": sum(found.values()),
        "refused": found[State.REJECTED],
        "waiting": sum(found[state] for state in unfinished),
    }


@require_GET
@project_page()
def upload(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Show an upload: its state, each complaint at its place, its files."""
    return _upload_page(request, access, _upload_or_404(access, pk), AttachForm())


@require_GET
@project_page()
def raw(request: HttpRequest, access: Access, pk: int) -> HttpResponseBase:
    """Give the body as it was sent."""
    found = _upload_or_404(access, pk)
    try:
        body = bodies.open_raw(found)
    except bodies.BodyGone as error:
        raise Http404 from error
    return FileResponse(
        body,
        as_attachment=True,
        filename=f"upload-{found.pk}.{found.encoding or 'bin'}",
        content_type="application/octet-stream",
    )


@require_GET
@project_page()
def file(request: HttpRequest, access: Access, pk: int, n: int) -> HttpResponseBase:
    """Give one file of an upload, unpacked. Never shown in place: it is foreign."""
    found = _upload_or_404(access, pk)
    try:
        blocks = bodies.open_file(found, n)
    except bodies.BodyGone as error:
        raise Http404 from error
    name = quote(found.files[n - 1]["name"] or f"upload-{found.pk}-{n}", safe="")
    response = StreamingHttpResponse(blocks, content_type="application/octet-stream")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{name}"
    return response


@require_POST
@project_page(needs=Role.TRIAGER)
def retry(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Process an upload again from the bytes as they came."""
    found = _upload_or_404(access, pk)
    if try_again(found, by=request.user.get_username()):
        messages.success(request, f"Upload {pk} is in the queue again.")
    else:
        messages.error(request, f"Upload {pk} is not failed or dead: nothing to retry.")
    target = "uploads" if text(request.POST, "from") == "list" else "upload"
    slug = [access.project.owner, access.project.name]
    return redirect(target, *slug, *([pk] if target == "upload" else []))


@require_POST
@project_page(needs=Role.TRIAGER)
def attach(request: HttpRequest, access: Access, pk: int) -> HttpResponse:
    """Say by hand where an upload of a route belongs."""
    found = _upload_or_404(access, pk)
    form = AttachForm(request.POST)
    if not form.is_valid():
        return _upload_page(request, access, found, form)
    run, pr = form.cleaned_data["run"], form.cleaned_data["pr"]
    by = request.user.get_username()
    try:
        if run:
            name = attaching.attach_to_run(found, run, by=by)
        else:
            name = attaching.attach_to_pull_request(found, pr, by=by)
    except attaching.AttachError as error:
        form.add_error(None, str(error))
        return _upload_page(request, access, found, form)
    messages.success(request, f"Upload {pk} is attached to {name}; it is read again.")
    return redirect("upload", access.project.owner, access.project.name, pk)


def _upload_page(
    request: HttpRequest, access: Access, found: Upload, form: AttachForm
) -> HttpResponse:
    context = {
        "access": access,
        "tab": "uploads",
        "upload": found,
        "problems": problems(found),
        "stuck": handovers.dead(found),
        "attach": form if access.triages and attaching.is_attachable(found) else None,
    }
    return render(request, "dashboard/upload.html", context)


def _upload_or_404(access: Access, pk: int) -> Upload:
    return get_object_or_404(
        Upload.objects.select_related("token", "project", "route"),
        pk=pk,
        project=access.project,
    )
