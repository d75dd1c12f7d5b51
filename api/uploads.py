"""Uploads: what became of one, its bytes as they were sent, another try."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from ninja import Router
from ninja.responses import Status

from api.access import asker_of, project_by_id
from api.addresses import file_url, upload_url
from api.problems import Conflict, Gone, NotFound
from api.shapes import FileProblem, FileShape, RouteShape, UploadShape
from ingest import bodies, queries, replaying
from ingest.models import State, Upload
from projects.models import Scope

router = Router(tags=["uploads"])

NO_UPLOAD = "There is no such upload."
BYTES = {200: None}
_BINARY: dict[str, Any] = {  # Any: OpenAPI
    "responses": {
        200: {
            "content": {
                "application/octet-stream": {
                    "schema": {
                        "type": "string",
                        "contentMediaType": "application/octet-stream",
                    }
                }
            }
        },
        410: {"description": "Retention has deleted the bytes"},
    }
}


@router.get("/uploads/{number:id}", response=UploadShape)
def get_upload(request: HttpRequest, id: int) -> UploadShape:
    """What became of an upload."""
    return _shape(_upload(request, id))


@router.get("/uploads/{number:id}/raw", response=BYTES, openapi_extra=_BINARY)
def get_raw(request: HttpRequest, id: int) -> HttpResponseBase:
    """The body as it was sent, compressed if it was."""
    upload = _upload(request, id)
    try:
        body = bodies.open_raw(upload)
    except bodies.BodyGone as error:
        raise Gone(f"{error}") from None
    suffix = {"gzip": ".gz", "zstd": ".zst"}.get(upload.encoding, "")
    response = FileResponse(
        body,
        as_attachment=True,
        filename=f"upload-{upload.pk}{suffix}",
        content_type="application/octet-stream",
    )
    response["X-Upload-Content-Type"] = upload.content_type
    response["X-Upload-Content-Encoding"] = upload.encoding or "identity"
    return response


@router.get(
    "/uploads/{number:id}/files/{number:n}",
    response=BYTES,
    openapi_extra=_BINARY,
)
def get_file(request: HttpRequest, id: int, n: int) -> HttpResponseBase:
    """One file of the upload, unpacked; n counts from 1."""
    upload = _upload(request, id)
    entry = next((file for file in upload.files if file["n"] == n), None)
    if entry is None:
        raise NotFound(f"The upload has no file {n}.")
    try:
        chunks = bodies.open_file(upload, n)
    except bodies.BodyGone as error:
        raise Gone(f"{error}") from None
    response = StreamingHttpResponse(chunks, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=PurePath(entry["name"]).name or f"file-{n}"
    )
    response["Content-Length"] = str(entry["size"])
    return response


@router.post("/uploads/{number:id}/retry", response={202: UploadShape})
def retry(request: HttpRequest, id: int) -> Status[UploadShape]:
    """Process a dead or failed upload again. Needs the scope admin."""
    upload = _upload(request, id, scope=Scope.ADMIN)
    if not replaying.retry(upload, by=asker_of(request).name):
        raise Conflict(f"An upload that is {upload.state} is not tried again.")
    upload.refresh_from_db()
    return Status(202, _shape(upload))


def _upload(
    request: HttpRequest, upload_id: int, *, scope: Scope = Scope.READ
) -> Upload:
    upload = queries.get(upload_id)
    if upload is None:
        raise NotFound(NO_UPLOAD)
    project_by_id(
        asker_of(request), upload.project_id, otherwise=NO_UPLOAD, scope=scope
    )
    return upload


def _shape(upload: Upload) -> UploadShape:
    errors = [_problem(each) for each in queries.problems(upload)]
    return UploadShape(
        id=upload.pk,
        project=upload.project.slug,
        state=upload.state,
        kind=queries.kinds(upload),
        error=errors[0] if errors else None,
        errors=errors,
        warnings=[_problem(each) for each in upload.warnings],
        run=upload.run_id,
        route=_route(upload),
        received_at=upload.received_at,
        processed_at=upload.processed_at,
        attempts=upload.attempts,
        retry_at=upload.due_at if upload.state == State.FAILED else None,
        files=[_file(upload, each) for each in upload.files],
        url=upload_url(upload.pk),
    )


def _route(upload: Upload) -> RouteShape | None:
    route = upload.route
    return RouteShape(name=route.name, kind=route.kind) if route else None


def _file(upload: Upload, entry: bodies.FileEntry) -> FileShape:
    return FileShape(**entry, url=file_url(upload.pk, entry["n"]))


def _problem(stored: dict[str, Any]) -> FileProblem:  # Any: JSON as stored
    return FileProblem(
        message=stored["message"],
        file=stored.get("file") or None,
        line=stored.get("line"),
        column=stored.get("column"),
        path=stored.get("path") or None,
    )
