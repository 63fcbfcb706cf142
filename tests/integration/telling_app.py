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
        before = module.move_registry

        def move_registry(state: RegistryState) -> int:
            queue.enqueue("jobs.prune", {})
            revision: int = before(state)
            return revision

        module.move_registry = move_registry
