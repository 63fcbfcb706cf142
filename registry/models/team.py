"""Teams, which own capabilities: their members alone change them. Part of `registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone


class Team(models.Model):
    """People who look after capabilities together."""

    name = models.CharField(max_length=80, unique=True)
    description = models.CharField(max_length=400, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.CheckConstraint(condition=~Q(name=""), name="team_name_not_empty")]

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """A separate table, so that a backup contains it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    operator = models.ForeignKey("registry.Operator", on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        app_label = "registry"
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "operator"], name="team_member_once")]
