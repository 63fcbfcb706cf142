"""The tables of its uploads belong to features/clawhub from here on; they stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0036_report_member"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="SkillUpload"),
                migrations.DeleteModel(name="UploadedSkill"),
            ]
        ),
    ]
