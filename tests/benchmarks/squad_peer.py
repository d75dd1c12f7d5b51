"""Submits result files to SQUAD and prints the seconds that each took.

Run by the Python of SQUAD's own environment (it needs 3.11), with DATABASE set as SQUAD
reads it: squad_peer.py FILE.json…  It imports nothing of ours. Two files a build, as
two environments; its tasks run at once in the request, as it is without a broker.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "squad.settings"

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from squad.core.models import Group  # noqa: E402


def main(files: list[str]) -> None:
    call_command("migrate", verbosity=0)
    user = User.objects.create_superuser("bench", "bench@example.org", "bench")
    token = Token.objects.create(user=user)
    Group.objects.create(slug="g").projects.create(slug="p")
    client = Client(HTTP_AUTH_TOKEN=token.key, HTTP_HOST="localhost")
    for number, name in enumerate(files):
        tests = Path(name).read_text()
        address = f"/api/submit/g/p/build{number // 2}/env{number % 2}"
        started = time.perf_counter()
        answer = client.post(address, {"tests": tests})
        spent = time.perf_counter() - started
        assert answer.status_code == 201, answer.content
        sys.stdout.write(f"{spent:.3f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
