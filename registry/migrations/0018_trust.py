# Teams, keys that end and are renewed, sessions that end with a role, and what pages of figures look things up by.

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0016_demand"),
    ]

    operations = [
        migrations.CreateModel(
            name="Team",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80, unique=True)),
                ("description", models.CharField(blank=True, default="", max_length=400)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(max_length=200)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="TeamMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="agentkey",
            name="expires_at",
            field=models.DateTimeField(help_text="Refused from then on; null: never.", null=True),
        ),
        migrations.AddField(
            model_name="agentkey",
            name="previous_key_hash",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of the key before the newest one; or empty.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="agentkey",
            name="previous_until",
            field=models.DateTimeField(help_text="The key before is taken beside the new one until then.", null=True),
        ),
        migrations.AddField(
            model_name="operator",
            name="session_epoch",
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="Sessions of earlier ones are void."),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["actor_name", "-id"], name="audit_of_actor"),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["verb", "-id"], name="audit_of_verb"),
        ),
        migrations.AddIndex(
            model_name="outcome",
            index=models.Index(fields=["capability", "revision", "outcome"], name="outcome_of_revision"),
        ),
        migrations.AddConstraint(
            model_name="agentkey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("previous_key_hash", ""), ("previous_until__isnull", True)),
                    models.Q(("previous_until__isnull", False), models.Q(("previous_key_hash", ""), _negated=True)),
                    _connector="OR",
                ),
                name="agent_key_rotation_paired",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentkey",
            constraint=models.UniqueConstraint(
                condition=models.Q(("previous_key_hash", ""), _negated=True),
                fields=("previous_key_hash",),
                name="agent_key_previous_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="team_name_not_empty"
            ),
        ),
        migrations.AddField(
            model_name="capability",
            name="team",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="capabilities", to="registry.team"
            ),
        ),
        migrations.AddField(
            model_name="teammember",
            name="operator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="teammember",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="registry.team"
            ),
        ),
        migrations.AddConstraint(
            model_name="teammember",
            constraint=models.UniqueConstraint(fields=("team", "operator"), name="team_member_once"),
        ),
    ]
