"""Where tools come from: sources with what they offer, and the tools that were taken from them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models import Capability
from registry.models.constraints import check_choice
from registry.models.fields import optional_text


class ToolSource(models.Model):
    """An OpenAPI document, a list of tools or an MCP server. `header_secret` and `query_secret` are encrypted, and are
    never shown; `url` has no value of its query."""

    class Kind(models.TextChoices):
        DOCUMENT = "document"
        ADDRESS = "address"
        MCP = "mcp"

    kind = models.CharField(max_length=16, choices=Kind.choices)
    title = models.CharField(max_length=200)
    version = optional_text(60, help_text="The version that the document says of itself.")
    form = models.CharField(max_length=16, help_text="OpenAPI, MCP, OpenAI, Anthropic or Gemini.")
    url = optional_text(1000, help_text="Empty for a document that was brought.")
    query_secret = optional_text(4000, db_default="", help_text="The query of the address, encrypted.")
    header_name = optional_text(100)
    header_secret = optional_text(4000, help_text="The header's value, encrypted.")
    credential = models.ForeignKey(
        "credentials.Credential",
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="Whose secret it is.",
    )
    digest = models.CharField(max_length=64, help_text="SHA-256 of what was read, in hexadecimal.")
    skipped = models.JSONField(default=list, help_text="Sentences on what is in it and was left out.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    read_at = models.DateTimeField(default=timezone.now, help_text="The last time that it could be read.")
    last_error = optional_text(500, help_text="Why it could not be read the last time.")

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            check_choice("kind", ["document", "address", "mcp"], name="tool_source_kind_known"),
            models.CheckConstraint(
                condition=Q(kind="document", url="") | (~Q(kind="document") & ~Q(url="")),
                name="tool_source_url_fits_kind",
            ),
            models.CheckConstraint(
                condition=Q(header_name="", header_secret="", credential=None)
                | (~Q(header_name="") & (~Q(header_secret="") ^ Q(credential__isnull=False))),
                name="tool_source_header_has_value",
            ),
        ]


class ToolSourceItem(models.Model):
    """One operation of a source, and the contract that it becomes. `losses` are pairs of a code and a sentence."""

    source = models.ForeignKey(ToolSource, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    key = models.CharField(max_length=600, help_text="Such as GET /pets/{id}, or a tool's name.")
    method = optional_text(8)
    name = models.CharField(max_length=64, help_text="The suggested name.")
    summary = optional_text(200)
    tags = models.JSONField(default=list)
    is_read = models.BooleanField()
    is_deprecated = models.BooleanField(default=False)
    contract = models.JSONField()
    digest = models.CharField(max_length=64)
    losses = models.JSONField(default=list)
    refused = optional_text(300, help_text="Why it cannot be a tool.")

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "key"], name="tool_source_item_once"),
        ]


class ToolBinding(models.Model):
    """That a tool of a capability came from a source. `contract` is what was taken, under the name that it has there;
    `changes` say in sentences what differs in the source since, each with its effect."""

    class State(models.TextChoices):
        SAME = "same"
        CHANGED = "changed"
        GONE = "gone"

    capability = models.ForeignKey(Capability, on_delete=models.CASCADE, related_name="+")
    tool_name = models.CharField(max_length=64)
    source = models.ForeignKey(ToolSource, on_delete=models.CASCADE, related_name="bindings")
    key = models.CharField(max_length=600)
    contract = models.JSONField()
    digest = models.CharField(max_length=64)
    state = models.CharField(max_length=16, choices=State.choices, default=State.SAME)
    changes = models.JSONField(default=list)
    noticed_at = models.DateTimeField(null=True, help_text="When the source was first seen to differ.")
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["tool_name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["capability", "tool_name"], name="tool_binding_once"),
            check_choice("state", ["same", "changed", "gone"], name="tool_binding_state_known"),
            models.CheckConstraint(
                condition=Q(state="same", noticed_at__isnull=True) | (~Q(state="same") & Q(noticed_at__isnull=False)),
                name="tool_binding_noticed_fits_state",
            ),
        ]

    @property
    def is_broken(self) -> bool:
        """Whether the source refuses calls that the tool, as it was taken, allows."""
        return any(change["effect"] == "breaks" for change in self.changes)
