"""Absolute addresses of what the API answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from projects.models import Project

_ROOT = "/api/v1"


def project_url(project: Project) -> str:
    return f"{settings.SITE_ROOT}{_ROOT}/projects/{project.slug}"


def run_url(run_id: int) -> str:
    return f"{settings.SITE_ROOT}{_ROOT}/runs/{run_id}"


def test_url(case_id: int) -> str:
    return f"{settings.SITE_ROOT}{_ROOT}/tests/{case_id}"


def finding_url(slug: str, finding_id: int) -> str:
    """Return the address of a finding's page."""
    return f"{settings.SITE_ROOT}/p/{slug}/findings/{finding_id}"


def review_url(project: Project, week: str) -> str:
    """Return the address of a weekly review's page."""
    return f"{settings.SITE_ROOT}/p/{project.slug}/review/{week}"


def pull_url(slug: str, number: int) -> str:
    """Return the address of a pull request's page."""
    return f"{settings.SITE_ROOT}/p/{slug}/pulls/{number}"


def upload_url(upload_id: int) -> str:
    return f"{settings.SITE_ROOT}{_ROOT}/uploads/{upload_id}"


def file_url(upload_id: int, n: int) -> str:
    return f"{upload_url(upload_id)}/files/{n}"
