"""The tables: cases, runs, results, and what publishing asks of them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from registry.models.constraints import check_choice, check_set_where
from registry.models.fields import optional_text


class SavedCase(models.Model):
    """One case of a capability; `document` is as `capability_kit.evaluation_cases` reads it."""

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=200)
    document = models.JSONField()
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "name"], name="evaluation_case_once"),
            models.CheckConstraint(condition=~models.Q(name=""), name="evaluation_case_name_not_empty"),
        ]


class CaseFileRest(models.Model):
    """What the file of a capability's cases has at its top level beside the cases; an export writes it again."""

    capability = models.OneToOneField(
        "registry.Capability", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    beside = models.JSONField()


class EvaluationRun(models.Model):
    """All cases of a capability played with one side by one model.

    `digest` is that of the texts that were played; the run ends early where they change.
    """

    class Side(models.TextChoices):
        LIVE = "live"
        DRAFT = "draft"
        WITHOUT = "without"
        REVISION = "revision"
        SILENT = "silent"

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        CANCELED = "canceled"

    capability = models.ForeignKey("registry.Capability", on_delete=models.CASCADE, related_name="+")
    side = models.CharField(max_length=16, choices=Side.choices)
    digest = optional_text(71, help_text="Empty where the capability is left out, or nothing was asked of a model.")
    revision = models.PositiveIntegerField(null=True, help_text="Of what was live, or the one that was chosen.")
    tool = optional_text(80, help_text="What played it elsewhere; empty: this registry.")
    model = models.CharField(max_length=200)
    settings = models.JSONField(default=dict, help_text="What it was played with beside the model.")
    repetitions = models.PositiveIntegerField(default=1)
    total = models.PositiveIntegerField(help_text="Cases times repetitions.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.RUNNING)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            check_choice("side", ["live", "draft", "without", "revision", "silent"], name="evaluation_run_side_known"),
            check_choice("state", ["running", "done", "canceled"], name="evaluation_run_state_known"),
            check_set_where("finished_at", name="evaluation_run_end_fits_state", state__in=["done", "canceled"]),
        ]


class ModelUse(models.Model):
    """What was asked of a model: each table of them counts in the budget of a member (model_settings.py)."""

    prompt_tokens = models.PositiveIntegerField(default=0)
    reply_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    finished_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True

    @classmethod
    def list_of_member(cls, member: str) -> models.QuerySet[Any]:
        """The rows whose tokens a member (`str` of the actor) has used."""
        raise NotImplementedError


class EvaluationResult(ModelUse):
    """One repetition of one case. It has passed where `failures` is empty."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="results")
    case = models.CharField(max_length=200)
    case_digest = models.CharField(max_length=71)
    repetition = models.PositiveIntegerField()
    must = models.BooleanField(default=False)
    failures = models.JSONField(default=list)
    transcript = models.JSONField(default=list, help_text="Forgotten after 30 days.")

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["finished_at"], name="evaluation_result_of_day")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "case", "repetition"], name="evaluation_result_once"),
        ]

    @classmethod
    def list_of_member(cls, member: str) -> models.QuerySet[EvaluationResult]:
        """What another harness has used is not of the budget."""
        return cls.objects.filter(run__tool="", run__created_by=member)


class EvaluationRule(models.Model):
    """What publishing asks of evaluations, everywhere or for what is in one skill group (release_conditions.py)."""

    group_id = optional_text(64, unique=True, help_text="Empty: the registry.")
    share = models.PositiveSmallIntegerField(help_text="At least so many percent passed.")
    model = optional_text(200, help_text="Results of this model count; empty: those of any.")
    updated_at = models.DateTimeField(default=timezone.now)
    updated_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["group_id"]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(share__gte=1, share__lte=100), name="evaluation_rule_share_is_percent"
            ),
        ]
