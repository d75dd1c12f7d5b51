"""What a run has instead of results, so that pages can say "effects only"."""

from __future__ import annotations


from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("results", "0004_add_recounts"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="instead",
            field=models.CharField(default="", max_length=10),
        ),
    ]
