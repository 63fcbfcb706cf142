"""The tables of share links and redeemed codes belong to features/sharing from here on; they stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0028_webhooks_are_a_feature"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="InstallCodeRedemption"),
                migrations.DeleteModel(name="ShareLink"),
            ]
        ),
    ]
