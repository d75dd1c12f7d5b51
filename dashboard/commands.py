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


def review_command(request: HttpRequest, project: Project) -> str:
    """Return a command that sends a review of a pull request."""
    return _file_command(request, project, '"pr": 1', "review=@review.md")


def effects_command(request: HttpRequest, project: Project) -> str:
    """Return a command that sends an effect ledger of a run."""
    return _file_command(request, project, '"run": "ci-1"', "effects=@effects.jsonl")


def gate_command(request: HttpRequest, project: Project) -> str:
    """Return a command that sends a report, its order and what a gate found."""
    url = request.build_absolute_uri("/api/v1/uploads")
    return (
        'curl -H "Authorization: Bearer $HEALTHBOARD_TOKEN" \\\n'
        f'  -F \'context={{"project": "{project.slug}", "branch": "{project.default_branch}"}}\' \\\n'
        "  -F junit=@report.xml -F order=@order.jsonl -F gate=@gate.json \\\n"
        f"  {url}"
    )


def pull_command(request: HttpRequest, project: Project, *, number: int = 1) -> str:
    """Return a command that sends a pull request's run, with what attribution needs."""
    url = request.build_absolute_uri("/api/v1/uploads")
    context = (
        f'{{"project": "{project.slug}", "pr": {number}, "commit": "\'$(git rev-parse HEAD)\'",'
        f' "merge_base": "\'$(git merge-base HEAD origin/{project.default_branch})\'"}}'
    )
    return (
        'curl -H "Authorization: Bearer $HEALTHBOARD_TOKEN" \\\n'
        f"  -F 'context={context}' \\\n"
        f"  -F junit=@report.xml {url}"
    )


def _file_command(
    request: HttpRequest, project: Project, context: str, part: str
) -> str:
    url = request.build_absolute_uri("/api/v1/uploads")
    return (
        'curl -H "Authorization: Bearer $HEALTHBOARD_TOKEN" \\\n'
        f'  -F \'context={{"project": "{project.slug}", {context}}}\' \\\n'
        f"  -F {part} {url}"
    )


def tokens_url(project: Project) -> str:
    """Return where tokens are made."""
    return reverse("tokens", args=[project.owner, project.name])
