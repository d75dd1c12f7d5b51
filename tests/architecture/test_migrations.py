"""Migrations say what the models say, one after the other."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

from tests.architecture.tracked import PACKAGES


@pytest.mark.django_db
def test_models_have_their_migrations():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_migrations_of_an_app_form_one_line():
    loader = MigrationLoader(None)
    ours = sorted(key for key in loader.disk_migrations if key[0] in PACKAGES)
    assert ours
    for app in {app for app, _ in ours}:
        names = [name for label, name in ours if label == app]
        numbers = [int(name[:4]) for name in names]
        assert numbers == list(range(1, len(names) + 1)), names
        for before, after in pairwise(names):
            parents = loader.disk_migrations[app, after].dependencies
            assert [p for p in parents if p[0] == app] == [(app, before)]


def test_migrations_are_named_by_what_they_do():
    names = [
        name for app, name in MigrationLoader(None).disk_migrations if app in PACKAGES
    ]
    automatic = [name for name in names if re.search(r"_auto_|_initial$", name)]
    assert automatic == []
