from django.db import migrations, models

import registry.access.install_code_form


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0008_visibility"),
    ]

    operations = [
        migrations.AlterField(
            model_name="capability",
            name="install_code",
            field=models.CharField(default=registry.access.install_code_form.new_code, max_length=20, unique=True),
        ),
        migrations.AddConstraint(
            model_name="capability",
            constraint=models.CheckConstraint(
                condition=models.Q(("install_code__startswith", "SKILL-")), name="capability_install_code_form"
            ),
        ),
    ]
