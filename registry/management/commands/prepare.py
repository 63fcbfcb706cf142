"""`manage.py prepare`: migrate, and make what a new registry needs. `run.py` calls it before it serves."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from registry.common.errors import SigningKeyUnusable
from registry.common.installation import PROGRAM, RESOURCES_DIR
from registry.core.signing_keys import get_signing_keys
from registry.operations.bootstrap import (
    FIRST_OPERATOR,
    InitialCredentials,
    create_initial_data,
    is_waiting_for_first_sign_in,
)


class Command(BaseCommand):
    help = "Bring the database up to date; on the first start make an operator, a key and the examples."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 (Django's signature)
        try:
            # Made at the first start; a start without a key that can be used would end at the first publish.
            get_signing_keys()
        except SigningKeyUnusable as error:
            raise CommandError(error.message) from error
        call_command("migrate", verbosity=0, interactive=False)
        examples = RESOURCES_DIR / "examples" if settings.EXAMPLES else None
        # Asked before the first password is printed: beside it the line would read like an error.
        was_waiting = is_waiting_for_first_sign_in()
        create_initial_data(examples=examples, tell=self._tell)
        if was_waiting:
            self.stdout.write(
                f"{FIRST_OPERATOR} has not signed in yet. Password lost? {PROGRAM} manage operator passwd "
                f"{FIRST_OPERATOR}; another key: {PROGRAM} manage agent_key create NAME"
            )

    def _tell(self, made: InitialCredentials) -> None:
        """Flushed: what is printed here is stored next, and must not be lost with this process."""
        if made.examples:
            names = ", ".join(result.capability_id for result in made.examples if result.status == "published")
            self.stdout.write(f"Examples published: {names}")
        for result in made.examples:
            if result.status == "refused":
                self.stderr.write(f"The example {result.path} was refused")
        if made.password is not None:
            self.stdout.write(
                f"Operator:  {FIRST_OPERATOR}   password: {made.password}   (temporary; you'll be asked to change it)"
            )
        if made.agent_key is not None:
            self.stdout.write(f"Agent key: {made.agent_key}   (shown once)")
        self.stdout.flush()
