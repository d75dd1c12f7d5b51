from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("leaks", "0002_add_decisions"),
    ]

    operations = [
        migrations.AddField(
            model_name="verdict",
            name="told_flaky_at",
            field=models.DateTimeField(null=True),
        ),
    ]
