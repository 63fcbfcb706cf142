"""`manage.py findings_page`: write docs/findings.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from capability_rules.validation.findings_reference import render_findings_page


class Command(BaseCommand):
    help = "Write docs/findings.md from the tables of codes."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 (Django's signature)
        (Path(settings.BASE_DIR) / "docs" / "findings.md").write_text(render_findings_page(), encoding="utf-8")
