"""Accounts of people who sign in elsewhere (OpenID Connect, GitHub).

An account is tied to the provider's own id of the person, never to a name or an e-mail
address: those can be taken over, and would hand over an account here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from projects import audit
from projects.models import Identity

_UNWANTED = re.compile(r"[^\w.@+-]+")


@dataclass(frozen=True, slots=True)
class Person:
    """What a provider says of the one who signed in."""

    provider: str
    subject: str
    login: str
    name: str = ""
    email: str = ""


def account_of(person: Person) -> User:
    """Return the account tied to this person; the first time, make one."""
    found = _find(person)
    if found is not None:
        return found
    for attempt in range(1, 100):
        try:
            return _make(person, attempt=attempt)
        except IntegrityError:
            # The name is taken, or the same person signs in twice at once.
            found = _find(person)
            if found is not None:
                return found
    raise IntegrityError(f"no free user name for {person.login!r}")


def _find(person: Person) -> User | None:
    identity = (
        Identity.objects.filter(provider=person.provider, subject=person.subject)
        .select_related("user")
        .first()
    )
    return identity.user if identity else None


def _make(person: Person, *, attempt: int) -> User:
    base = _UNWANTED.sub("-", person.login).strip("-")[:140] or "someone"
    username = base if attempt == 1 else f"{base}-{attempt}"
    first, _, last = person.name.partition(" ")
    with transaction.atomic():
        user = User(
            username=username,
            first_name=first[:150],
            last_name=last[:150],
            email=person.email[:254],
        )
        user.set_unusable_password()
        user.save(force_insert=True)
        Identity.objects.create(
            user=user, provider=person.provider, subject=person.subject
        )
        audit.record(
            None, actor=username, action="account.created", subject=person.provider
        )
    return user
