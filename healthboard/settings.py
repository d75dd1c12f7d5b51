"""All settings, read from the environment once. `docs/settings.md` lists them.

Nonsense raises at start. Without DEBUG a secret key must be given, by `SECRET_KEY` or
by the file `secret-key` in the data directory (which `serve` makes).
"""

from __future__ import annotations

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

from healthboard.roles import ROLES

BASE_DIR = Path(__file__).resolve().parent.parent


def _bool(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None or value == "":
        return default
    if value not in ("True", "False"):
        raise ImproperlyConfigured(f"{name} is {value!r}; use True or False")
    return value == "True"


def _int(name: str, default: int) -> int:
    value = os.environ.get(name) or str(default)
    if not value.isascii() or not value.isdigit():
        raise ImproperlyConfigured(f"{name} is {value!r}; use a whole number")
    return int(value)


def _list(name: str, default: str) -> list[str]:
    value = os.environ.get(name) or default
    return [part.strip() for part in value.split(",") if part.strip()]


def _secret_key(data: Path, *, debug: bool) -> str:
    value = os.environ.get("SECRET_KEY", "")
    kept = data / "secret-key"
    if not value and kept.is_file():
        value = kept.read_text().strip()
    if not value and debug:
        value = "not a secret, only for DEBUG"
    if not value:
        raise ImproperlyConfigured("SECRET_KEY is not set (or start with dev.py)")
    return value


DEBUG = _bool("DEBUG", default=False)
DATA_DIR = Path(os.environ.get("HEALTHBOARD_DATA") or BASE_DIR / ".data").resolve()
DATA_DIR.mkdir(parents=True, exist_ok=True)
INBOX_DIR = DATA_DIR / "inbox"
SECRET_KEY = _secret_key(DATA_DIR, debug=DEBUG)
SITE_ROOT = (os.environ.get("SITE_ROOT") or "http://localhost:8000").rstrip("/")
ALLOWED_HOSTS = _list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = [SITE_ROOT]
CSRF_FAILURE_VIEW = "dashboard.views.errors.csrf_failed"

INSTALLED_APPS = [
    "healthboard",
    "dashboard",
    "review",
    "notify",
    "pulls",
    "leaks",
    "findings",
    "ingest",
    "results",
    "projects",
    "django_htmx",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "api.problems.ProblemMiddleware",  # first: it sees what the others refuse
    "api.head.HeadMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "healthboard.urls"
WSGI_APPLICATION = "healthboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]


def _database() -> dict[str, Any]:  # Any: Django's database settings
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'healthboard.db'}"
    database: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60))
    if database["ENGINE"].endswith("sqlite3"):
        # FULL: an answered upload survives a power cut. IMMEDIATE: a transaction that
        # will write takes the lock at its start, so it waits instead of failing.
        database["CONN_MAX_AGE"] = None
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=268435456;"
                "PRAGMA cache_size=-32768"
            ),
        }
    return database


EMBEDDED = not os.environ.get("DATABASE_URL")
DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "projects"
LOGOUT_REDIRECT_URL = "sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

_SECURE = SITE_ROOT.startswith("https://")
SESSION_COOKIE_SECURE = _SECURE
CSRF_COOKIE_SECURE = _SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _SECURE else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}

REDIS_URL = os.environ.get("REDIS_URL", "")
SPOOL_DIR = DATA_DIR / "spool"
# Who must be there, by the name of its role: the queue that it serves.
WORKING_QUEUES = {role.name: role.queue for role in ROLES}


def _broker() -> dict[str, Any]:  # Any: options of a kombu transport
    if REDIS_URL:
        # A request never waits longer than this for a broker that does not answer.
        return {"socket_connect_timeout": 1, "socket_timeout": 5}
    SPOOL_DIR.mkdir(exist_ok=True)
    return {
        "data_folder_in": str(SPOOL_DIR),
        "data_folder_out": str(SPOOL_DIR),
        "control_folder": str(SPOOL_DIR),
        "polling_interval": 0.05,
    }


CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT = None if REDIS_URL else "healthboard.spool:Transport"
CELERY_BROKER_TRANSPORT_OPTIONS = _broker()
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "ingest"
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_SEND_TASK_EVENTS = False
# All that is due is in the database, so the beat need not remember anything.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"

# Sign-in by others: on when the client id is set (docs/settings.md).
HEALTHBOARD_OIDC_ISSUER = (os.environ.get("HEALTHBOARD_OIDC_ISSUER") or "").rstrip("/")
HEALTHBOARD_OIDC_CLIENT_ID = os.environ.get("HEALTHBOARD_OIDC_CLIENT_ID", "")
HEALTHBOARD_OIDC_CLIENT_SECRET = os.environ.get("HEALTHBOARD_OIDC_CLIENT_SECRET", "")
HEALTHBOARD_OIDC_NAME = os.environ.get("HEALTHBOARD_OIDC_NAME") or "single sign-on"
HEALTHBOARD_GITHUB_CLIENT_ID = os.environ.get("HEALTHBOARD_GITHUB_CLIENT_ID", "")
HEALTHBOARD_GITHUB_CLIENT_SECRET = os.environ.get(
    "HEALTHBOARD_GITHUB_CLIENT_SECRET", ""
)
HEALTHBOARD_GITHUB_URL = (
    os.environ.get("HEALTHBOARD_GITHUB_URL") or "https://github.com"
).rstrip("/")
HEALTHBOARD_GITHUB_API_URL = (
    os.environ.get("HEALTHBOARD_GITHUB_API_URL") or "https://api.github.com"
).rstrip("/")
if HEALTHBOARD_OIDC_CLIENT_ID and not HEALTHBOARD_OIDC_ISSUER:
    raise ImproperlyConfigured(
        "HEALTHBOARD_OIDC_CLIENT_ID is set: set HEALTHBOARD_OIDC_ISSUER as well"
    )

HEALTHBOARD_MAX_WIRE_BYTES = _int("HEALTHBOARD_MAX_WIRE_BYTES", 64 * 2**20)
HEALTHBOARD_MAX_UNPACKED_BYTES = _int("HEALTHBOARD_MAX_UNPACKED_BYTES", 2**30)
HEALTHBOARD_RATE = _int("HEALTHBOARD_RATE", 50)
HEALTHBOARD_BURST = _int("HEALTHBOARD_BURST", 200)
HEALTHBOARD_METRICS_OPEN = _bool("HEALTHBOARD_METRICS_OPEN", default=False)
HEALTHBOARD_LEASE_SECONDS = _int("HEALTHBOARD_LEASE_SECONDS", 120)


def _networks(parts: list[str]) -> list[IPv4Network | IPv6Network]:
    try:
        return [ip_network(part) for part in parts]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"HEALTHBOARD_WEBHOOK_ALLOW: {error}; use networks such as"
            " 10.0.0.0/8,fd00::/8"
        ) from error


# Networks that webhooks may reach besides public addresses.
HEALTHBOARD_WEBHOOK_ALLOW = _networks(_list("HEALTHBOARD_WEBHOOK_ALLOW", ""))

# Without a host no mail is sent, and e-mail endpoints say so.
HEALTHBOARD_MAIL_HOST = os.environ.get("EMAIL_HOST", "")
DEFAULT_FROM_EMAIL = os.environ.get("DEFAULT_FROM_EMAIL") or "healthboard@localhost"
MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": HEALTHBOARD_MAIL_HOST,
            "port": _int("EMAIL_PORT", 25),
            "username": os.environ.get("EMAIL_HOST_USER", ""),
            "password": os.environ.get("EMAIL_HOST_PASSWORD", ""),
            "use_tls": _bool("EMAIL_USE_TLS", default=False),
            "timeout": 20,
        },
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    # A look at a stage is no event; what it did is, and the stage says so.
    "loggers": {"celery": {"level": "WARNING"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("LOG_LEVEL") or "INFO"},
}
