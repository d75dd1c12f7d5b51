"""The product's settings with what the tests need set before they are read.

`HEALTHBOARD_TEST_DATABASE=postgresql` runs the tests on the real PostgreSQL.
"""

from __future__ import annotations

import os

from tests.services import postgres, session

_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
_DATA = session.directory() / f"data-{_WORKER}"
# Set, not defaulted: a test run never touches the data of a person's own server.
os.environ["HEALTHBOARD_DATA"] = str(_DATA)
(_DATA / "static").mkdir(parents=True, exist_ok=True)  # whitenoise minds its absence
os.environ["SECRET_KEY"] = "for tests only"
os.environ["REDIS_URL"] = ""
os.environ["DATABASE_URL"] = ""
if os.environ.get("HEALTHBOARD_TEST_DATABASE") == "postgresql":
    os.environ["DATABASE_URL"] = postgres.url()

from healthboard.settings import *  # noqa: E402, F403
from healthboard.settings import DATABASES  # noqa: E402

if not os.environ["DATABASE_URL"]:
    # A file, as in real life, so that threads meet its one write lock; but nothing
    # is made durable.
    DATABASES["default"]["TEST"] = {"NAME": str(_DATA / "tests.db")}
    _options = DATABASES["default"]["OPTIONS"]
    _options["init_command"] = _options["init_command"].replace("=FULL", "=OFF")

# Hashed names need collectstatic, which a live test server has not run.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
