"""`manage.py openapi`: print the API description, to be committed as agent_api/openapi.yaml."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from agent_api.openapi.document import render_yaml


class Command(BaseCommand):
    help = "Print the OpenAPI document that the code generates."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 (Django's signature)
        self.stdout.write(render_yaml(), ending="")
