"""People who visit the pages, and what they see there."""

from __future__ import annotations

import html
import re

from django.contrib.auth.models import User
from django.test import Client

from projects.models import Membership

PASSWORD = "a password of theirs"


def make_user(name, **fields):
    return User.objects.create_user(name, f"{name}@example.org", PASSWORD, **fields)


def visitor(project=None, role=None, *, name="", **fields):
    """A signed-in client; with a role, a member of the project."""
    user = make_user(name or f"a-{role or 'stranger'}", **fields)
    if role is not None:
        Membership.objects.create(project=project, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def visit(client, path, status=200, **query):
    """GET a page; return its text as a person reads it, in one line."""
    answer = client.get(path, query_params=query)
    assert answer.status_code == status, answer.content
    return read(answer)


def read(answer):
    """Return a page's text: no tags, spaces joined."""
    main = answer.content.decode()
    text = html.unescape(re.sub(r"<[^>]*>", " ", main))
    return re.sub(r"\s+([,.;:])", r"\1", re.sub(r"\s+", " ", text))


def base(project):
    return f"/p/{project.owner}/{project.name}"
