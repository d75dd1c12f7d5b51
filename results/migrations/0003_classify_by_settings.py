from __future__ import annotations

from typing import TYPE_CHECKING

import django.db.models.deletion
from django.db import migrations, models

if TYPE_CHECKING:
    from django.apps.registry import Apps
    from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def look_at_all(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Settings may have changed before anybody looked: look at every project once."""
    row = apps.get_model("results", "Classification")
    projects = apps.get_model("projects", "Project").objects.all()
    row.objects.bulk_create(row(project=one) for one in projects)


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0003_tell_secrets_of_routes"),
        ("results", "0002_add_leaks"),
    ]

    operations = [
        migrations.CreateModel(
            name="Classification",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to="projects.project",
                    ),
                ),
                ("zone", models.CharField(max_length=64)),
                ("default_branch", models.CharField(max_length=255)),
                ("due_at", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True)),
            ],
        ),
        migrations.RunPython(look_at_all, migrations.RunPython.noop),
    ]
