"""Makes the jobs of `slow_jobs` known to every process that loads `job_settings`."""

from __future__ import annotations

from django.apps import AppConfig


class JobApp(AppConfig):
    name = "tests.integration"
    label = "job_tests"

    def ready(self) -> None:
        import tests.integration.slow_jobs  # noqa: F401 (for what it registers)
