"""People who sign in. Part of `registry.models`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q


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
    tour_marks = models.CharField(
        max_length=80, blank=True, default="", help_text="Steps of the tour that were opened, and `left`; by dots."
    )
    # Set for one request by the code that found that the page's capability belongs to another team: its name.
    blocked_by_team: str = ""

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(role__in=["viewer", "author", "publisher", "admin"]), name="operator_role_known"
            )
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
