"""The product's settings with what the tests need set before they are read."""

from __future__ import annotations

import os
import tempfile

os.environ.setdefault("SECRET_KEY", "for tests only")
os.environ.setdefault("HEALTHBOARD_DATA", tempfile.mkdtemp(prefix="healthboard-tests-"))

from healthboard.settings import *  # noqa: E402, F403

# Hashed names need collectstatic, which a live test server has not run.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
