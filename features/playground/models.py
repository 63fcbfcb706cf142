"""The tables: chats with a model, and what was said in them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone

from features.evaluations.models import ModelUse
from registry.models.constraints import check_choice
from registry.models.fields import optional_text


class PlaygroundChat(models.Model):
    """A conversation with a model. Its steps are what was said: it is played again from them."""

    class State(models.TextChoices):
        IDLE = "idle"
        RUNNING = "running"
        FAILED = "failed"

    created_by = models.CharField(max_length=150, help_text="The username of the member who began it.")
    model = models.CharField(max_length=200)
    with_drafts = models.BooleanField(default=False)
    answers_by_example = models.BooleanField(default=True, help_text="A call without a mock is not put to the person.")
    mocks = models.JSONField(default=list, help_text="Of the case that it began with, as evals.json has them.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.IDLE)
    failure = optional_text(400, help_text="Why the model did not answer.")
    partial = models.JSONField(
        null=True, help_text="{text, calls}: what has come of the reply that is being written. It is not a step."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "evaluations_playgroundchat"
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["created_by", "-id"], name="playground_chats_of_member")]
        constraints: ClassVar = [
            check_choice("state", ["idle", "running", "failed"], name="playground_chat_state_known"),
        ]


class PlaygroundStep(ModelUse):
    """What somebody put into a chat: a message, a reply of the model, or what a person decided.

    One without a chat is empty, and counts its tokens: the chat was deleted, or the reply broke off.
    """

    class Kind(models.TextChoices):
        MESSAGE = "message"
        REPLY = "reply"
        APPROVAL = "approval"
        RESULT = "result"
        FORM = "form"

    chat = models.ForeignKey(PlaygroundChat, on_delete=models.SET_NULL, null=True, related_name="steps")
    member = models.CharField(max_length=200, help_text="Whose budget its tokens count in, also without its chat.")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=16, choices=Kind.choices)
    content = models.JSONField(
        default=dict,
        help_text="{text}; {text, calls}; {approved}; {result} or {error}; {event}, null where it was closed.",
    )
    sent = models.JSONField(null=True, help_text="The body of the request that a reply came to.")

    class Meta:
        db_table = "evaluations_playgroundstep"
        ordering: ClassVar = ["number"]
        indexes: ClassVar = [models.Index(fields=["finished_at"], name="playground_step_of_day")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["chat", "number"], name="playground_step_once"),
            check_choice("kind", ["message", "reply", "approval", "result", "form"], name="playground_step_kind_known"),
        ]

    @classmethod
    def list_of_member(cls, member: str) -> models.QuerySet[PlaygroundStep]:
        """Those of deleted chats too."""
        return cls.objects.filter(member=member)
