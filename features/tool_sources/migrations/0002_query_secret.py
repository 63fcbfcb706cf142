from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tool_sources", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="toolsource",
            name="query_secret",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="The query of the address, encrypted.", max_length=4000
            ),
        ),
    ]
