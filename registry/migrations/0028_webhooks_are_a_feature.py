"""The tables of webhooks belong to features/webhooks from here on; they stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0027_held_passages_are_a_part"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name="WebhookDelivery"),
                migrations.DeleteModel(name="Webhook"),
            ]
        ),
    ]
