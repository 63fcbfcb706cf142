"""Scores count the successes and failures of which they are made: counting events took longer with each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from django.db import migrations, models
from django.db.models import Count, F, Q

KINDS = {
    "confirmed_success": "good",
    "likely_success": "good",
    "likely_failure": "bad",
    "confirmed_failure": "bad",
}


def count_ends(apps: Any, _: Any) -> None:
    counted: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    rows = apps.get_model("registry", "FeedbackEvent").objects.filter(outcome__in=KINDS).order_by()
    rows = rows.values_list("capability_id", "revision", "outcome").annotate(Count("pk"))
    for capability, revision, outcome, count in rows:
        for number in (0, revision):
            counted[capability, number][KINDS[outcome]] += count
    confidences = apps.get_model("registry", "Confidence").objects
    for (capability, number), counts in counted.items():
        confidences.filter(capability=capability, revision=number).update(good=counts["good"], bad=counts["bad"])


class Migration(migrations.Migration):
    dependencies = [
        ("registry", "0037_clawhub_is_a_feature"),
    ]

    operations = [
        migrations.AddField(
            model_name="confidence",
            name="good",
            field=models.PositiveBigIntegerField(db_default=0, default=0, help_text="Successes, confirmed or likely."),
        ),
        migrations.AddField(
            model_name="confidence",
            name="bad",
            field=models.PositiveBigIntegerField(db_default=0, default=0, help_text="Failures, confirmed or likely."),
        ),
        migrations.RunPython(count_ends, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="confidence",
            constraint=models.CheckConstraint(
                condition=Q(uses__gte=F("good") + F("bad")), name="confidence_ends_are_uses"
            ),
        ),
    ]
