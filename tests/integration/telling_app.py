"""Queues a job in the transaction of every publish."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig


class TellingApp(AppConfig):
    name = "tests.integration"
    label = "telling_tests"

    def ready(self) -> None:
        from registry.background import jobs
        from registry.models import RegistryState
        from registry.releases import pointer

        module: Any = pointer
        before = module.move_registry

        def move_registry(state: RegistryState) -> int:
            jobs.enqueue("jobs.prune", {})
            revision: int = before(state)
            return revision

        module.move_registry = move_registry
