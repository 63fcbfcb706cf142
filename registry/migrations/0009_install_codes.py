from django.db import migrations, models

import registry.models.install_code


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0008_visibility"),
    ]

    operations = [
        migrations.AlterField(
            model_name="capability",
            name="install_code",
            field=models.CharField(default=registry.models.install_code.new_code, max_length=20, unique=True),
        ),
        migrations.AddConstraint(
            model_name="capability",
            constraint=models.CheckConstraint(
                condition=models.Q(("install_code__startswith", "SKILL-")), name="capability_install_code_form"
            ),
        ),
    ]
