"""The command that uploads a report, as empty states and settings show it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse

if TYPE_CHECKING:
    from django.http import HttpRequest

    from projects.models import Project


def upload_command(
    request: HttpRequest, project: Project, *, token: str | None = None
) -> str:
    """Return a command that can be pasted, with this project's name and address."""
    url = request.build_absolute_uri("/api/v1/uploads")
    bearer = token or "$HEALTHBOARD_TOKEN"
    return (
        f'curl -H "Authorization: Bearer {bearer}" \\\n'
        f'  -F \'context={{"project": "{project.slug}", "branch": "{project.default_branch}"}}\' \\\n'
        f"  -F junit=@report.xml {url}"
    )


def tokens_url(project: Project) -> str:
    """Return where tokens are made."""
    return reverse("tokens", args=[project.owner, project.name])
