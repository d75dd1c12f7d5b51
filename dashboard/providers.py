"""Signing in through others: OpenID Connect and GitHub, when configured.

A provider says who someone is; `projects.identities` ties that to an account here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from joserfc.errors import JoseError
from requests import RequestException

from projects.identities import Person

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseRedirect

OIDC = "oidc"
GITHUB = "github"


class SignInError(Exception):
    """The provider did not say who this is; the message is for the person."""


@dataclass(frozen=True, slots=True)
class Provider:
    key: str
    name: str


def configured() -> list[Provider]:
    """Return the providers that the operator has set up."""
    found = []
    if settings.HEALTHBOARD_OIDC_CLIENT_ID:
        found.append(Provider(OIDC, settings.HEALTHBOARD_OIDC_NAME))
    if settings.HEALTHBOARD_GITHUB_CLIENT_ID:
        found.append(Provider(GITHUB, "GitHub"))
    return found


def is_configured(key: str) -> bool:
    return any(provider.key == key for provider in configured())


def begin(request: HttpRequest, key: str, *, back: str) -> HttpResponseRedirect:
    """Send the person to the provider; `back` is the address of `finish`."""
    try:
        redirect: HttpResponseRedirect = _client(key).authorize_redirect(request, back)
    except (AuthlibBaseError, RequestException) as error:
        raise SignInError("The sign-in service does not answer.") from error
    return redirect


def finish(request: HttpRequest, key: str) -> Person:
    """Return who came back from the provider, checked by state, nonce and signature."""
    client = _client(key)
    try:
        token = client.authorize_access_token(request)
        if key == OIDC:
            return _person_of_claims(token.get("userinfo") or {})
        return _person_of_github(client.get("user", token=token).json())
    except (AuthlibBaseError, JoseError) as error:
        raise SignInError(
            "The sign-in was refused, or took too long. Nothing was changed."
        ) from error
    except (RequestException, ValueError) as error:
        raise SignInError("The sign-in service gave no usable answer.") from error


def _client(key: str) -> Any:  # Any: Authlib's clients are not typed
    registry = OAuth()
    if key == OIDC:
        return registry.register(
            OIDC,
            client_id=settings.HEALTHBOARD_OIDC_CLIENT_ID,
            client_secret=settings.HEALTHBOARD_OIDC_CLIENT_SECRET,
            server_metadata_url=(
                f"{settings.HEALTHBOARD_OIDC_ISSUER}/.well-known/openid-configuration"
            ),
            client_kwargs={
                "scope": "openid profile email",
                "code_challenge_method": "S256",
                "default_timeout": 10,
            },
        )
    web = settings.HEALTHBOARD_GITHUB_URL
    return registry.register(
        GITHUB,
        client_id=settings.HEALTHBOARD_GITHUB_CLIENT_ID,
        client_secret=settings.HEALTHBOARD_GITHUB_CLIENT_SECRET,
        authorize_url=f"{web}/login/oauth/authorize",
        access_token_url=f"{web}/login/oauth/access_token",
        api_base_url=f"{settings.HEALTHBOARD_GITHUB_API_URL}/",
        client_kwargs={"scope": "read:user", "default_timeout": 10},
    )


def _person_of_claims(claims: dict[str, Any]) -> Person:  # Any: JSON
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        raise ValueError("no subject")
    email = str(claims.get("email") or "") if claims.get("email_verified") else ""
    login = claims.get("preferred_username") or email.partition("@")[0] or "someone"
    return Person(
        provider=OIDC,
        subject=f"{claims.get('iss', '')} {subject}"[:255],
        login=str(login),
        name=str(claims.get("name") or ""),
        email=email,
    )


def _person_of_github(user: dict[str, Any]) -> Person:  # Any: JSON
    number = user.get("id")
    if not isinstance(number, int):
        raise ValueError("no id")
    return Person(
        provider=GITHUB,
        subject=str(number),
        login=str(user.get("login") or "someone"),
        name=str(user.get("name") or ""),
    )
