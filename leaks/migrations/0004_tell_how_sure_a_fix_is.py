from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaks", "0003_tell_flaky_once"),
    ]

    operations = [
        migrations.AddField(
            model_name="leaker",
            name="fix",
            field=models.JSONField(null=True),
        ),
    ]
