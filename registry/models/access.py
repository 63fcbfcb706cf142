"""People, teams and keys of agents: who may do what. Part of `registry.models`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.utils import timezone

from registry.models.constraints import check_choice, check_paired
from registry.models.fields import optional_text


class Operator(AbstractUser):
    """A person who signs in to the Studio."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        AUTHOR = "author"
        PUBLISHER = "publisher"
        ADMIN = "admin"

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    must_change_password = models.BooleanField(default=False)
    session_epoch = models.PositiveIntegerField(default=0, db_default=0, help_text="Sessions of earlier ones are void.")
    tour_marks = optional_text(80, help_text="Steps of the tour that were opened, and `left`; by dots.")
    # Set for one request by the code that found that the page's capability belongs to another team: its name.
    blocked_by_team: str = ""

    class Meta:
        constraints: ClassVar = [
            check_choice("role", ["viewer", "author", "publisher", "admin"], name="operator_role_known")
        ]

    @property
    def can_edit(self) -> bool:
        """Whether this person may save drafts."""
        return self.role in (self.Role.AUTHOR, self.Role.PUBLISHER, self.Role.ADMIN) and not self.blocked_by_team

    @property
    def can_publish(self) -> bool:
        """Whether this person may change what readers see."""
        return self.role in (self.Role.PUBLISHER, self.Role.ADMIN) and not self.blocked_by_team

    @property
    def can_administer(self) -> bool:
        """Whether this person may manage keys and operators."""
        return self.role == self.Role.ADMIN

    def get_session_auth_hash(self) -> str:
        """What a session is validated against: it ends with another password, and with another epoch."""
        return self._of_epoch(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """As above, under the keys before the newest SECRET_KEY."""
        return (self._of_epoch(one) for one in super().get_session_auth_fallback_hash())

    def _of_epoch(self, one: str) -> str:
        # The first epoch as it was before there were any, so that an upgrade signs no one out.
        return f"{one}:{self.session_epoch}" if self.session_epoch else one


class Team(models.Model):
    """People who look after capabilities together."""

    name = models.CharField(max_length=80, unique=True)
    description = optional_text(400)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.CheckConstraint(condition=~Q(name=""), name="team_name_not_empty")]

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """A separate table, so that a backup contains it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    operator = models.ForeignKey("registry.Operator", on_delete=models.CASCADE, related_name="memberships")

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["team", "operator"], name="team_member_once")]


class AgentKey(models.Model):
    """A key of an agent runtime. Only the SHA-256 is kept: keys are 256 random bits, so a slow hash adds nothing."""

    name = models.CharField(max_length=80, unique=True)
    key_hash = models.CharField(max_length=64, unique=True)
    key_prefix = models.CharField(max_length=16, help_text="The first characters, to tell keys apart.")
    scopes = models.JSONField(default=list)
    groups = models.JSONField(null=True, default=None, help_text="The skill groups that it can see; null: all.")
    team = models.ForeignKey(
        Team,
        null=True,
        on_delete=models.PROTECT,
        related_name="keys",
        help_text="It changes what belongs to this team, and nothing else; null: no such limit.",
    )
    capability_ids = models.JSONField(
        null=True, default=None, help_text="It changes and creates these capabilities alone; null: no such limit."
    )
    read_only_tools = models.BooleanField(
        default=False, db_default=False, help_text="Write tools are left out of its responses."
    )
    preview = models.BooleanField(default=False, db_default=False, help_text="Drafts are served to it as if published.")
    visibility_revision = models.BigIntegerField(
        default=0, db_default=0, help_text="The registry revision at which it was created or its groups were changed."
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.CharField(max_length=200)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, help_text="Refused from then on; null: never.")
    previous_key_hash = optional_text(64, db_default="", help_text="Hash of the previous key, or empty.")
    previous_until = models.DateTimeField(null=True, help_text="The previous key is accepted until then.")
    revoked_at = models.DateTimeField(null=True)
    revoked_by = optional_text(200)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            check_paired("revoked_at", "revoked_by", name="agent_key_revocation_paired"),
            check_paired("previous_until", "previous_key_hash", name="agent_key_rotation_paired"),
            models.CheckConstraint(
                condition=Q(team__isnull=True) | Q(capability_ids__isnull=True), name="agent_key_limit_of_one_kind"
            ),
            models.UniqueConstraint(
                fields=["previous_key_hash"], condition=~Q(previous_key_hash=""), name="agent_key_previous_once"
            ),
        ]

    @property
    def has_ended(self) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def has_two(self) -> bool:
        """Whether the key before the newest one is still taken."""
        return self.previous_until is not None and self.previous_until > timezone.now()
