"""Queues a job in the transaction of every publish."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig


class TellingApp(AppConfig):
    name = "tests.integration"
    label = "telling_tests"

    def ready(self) -> None:
        from registry.core.jobs import queue
        from registry.models import RegistryState
        from registry.publishing import release_pointer

        module: Any = release_pointer
        before = module.bump_registry_revision

        def bump_registry_revision(state: RegistryState) -> int:
            queue.enqueue("jobs.prune", {})
            revision: int = before(state)
            return revision

        module.bump_registry_revision = bump_registry_revision
