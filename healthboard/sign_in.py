"""The first sign-in: an administrator with a password that is shown once."""

from __future__ import annotations

import secrets

from django.contrib.auth import get_user_model

ADMIN = "admin"
# Read aloud and typed easily: no letter that looks like a digit.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


def first_password() -> str:
    """Make the administrator of an empty database; "" if somebody is there already."""
    users = get_user_model().objects
    if users.exists():
        return ""
    password = "-".join(_word() for _ in range(4))
    users.create_superuser(ADMIN, password=password)
    return password


def _word() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(4))
