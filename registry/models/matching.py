"""What was learned for matching: derived from what is published, and recomputed where it is missing. Part of
`registry.models`."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from registry.models.fields import optional_text


class SentenceVector(models.Model):
    """The vector of one text by one model: float32, little-endian, `dimension` numbers of unit length together."""

    model_id = models.CharField(max_length=200)
    text_sha256 = models.CharField(max_length=64)
    dimension = models.PositiveIntegerField()
    vector = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["model_id", "text_sha256"], name="sentence_vector_once"),
        ]


class MatchClassifier(models.Model):
    """The weights of a classifier (registry/matching/kernel_classifier.py) as float16, for the samples with this
    fingerprint."""

    fingerprint = models.CharField(max_length=64)
    model_id = optional_text(200, help_text="Empty: the message was matched by words only.")
    samples = models.PositiveIntegerField()
    classes = models.PositiveIntegerField()
    weights = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["model_id", "fingerprint"], name="match_classifier_once"),
        ]


class SkillGroup(models.Model):
    """What several capabilities have in common, with its own words; of an exclusive one, a session keeps one."""

    group_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=80)
    description = optional_text(1024)
    examples = models.JSONField(default=list)
    is_exclusive = models.BooleanField(default=False)
    team = models.ForeignKey(
        "registry.Team",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="skill_groups",
        help_text="Only its members and admins change the group; empty: every publisher does.",
    )

    class Meta:
        ordering: ClassVar = ["group_id"]
