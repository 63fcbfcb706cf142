"""How often what was loaded, and how often messages matched. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class LoadCount(models.Model):
    """How often a capability was loaded on a day (UTC), by revision and key.

    Counted in memory, added every few seconds. What is older than 90 days is kept by month: one row, on the first of
    it (registry/usage/rollup.py).
    """

    day = models.DateField()
    capability_id = models.CharField(max_length=64)
    revision = models.PositiveIntegerField()
    key_name = models.CharField(max_length=80, blank=True, default="")
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["day", "capability_id", "revision", "key_name"], name="load_count_unique")
        ]


class MatchCount(models.Model):
    """How many messages of agents were decided how on a day (UTC): three rows a day at most, kept for good.

    Counted in memory, added every few seconds. The messages themselves are not kept here.
    """

    day = models.DateField()
    decision = models.CharField(max_length=16, help_text="match, ambiguous or none.")
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["day", "decision"], name="match_count_unique")]
