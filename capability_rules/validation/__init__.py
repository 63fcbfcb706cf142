"""Is a bundle valid, and if not, where? One function serves editor, preview, command line, API and publishing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from capability_kit import tracing
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.problem import BUNDLE_FILES
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.in_place import check_in_place
from capability_rules.validation.isolation.bundle_check import check_in_pool
from capability_rules.validation.isolation.pool import current_pool
from capability_rules.validation.report import Report

__all__ = ["BUNDLE_FILES", "RULES_VERSION", "Finding", "Report", "ValidationContext", "validate_bundle"]

# Raise it whenever a rule starts to refuse what it let through: stored bundles are then checked again when loaded.
RULES_VERSION: Final = "11"


def validate_bundle(files: Mapping[str, bytes | str], *, published: ValidationContext | None = None) -> Report:
    """Check the texts of one bundle; all findings at once, sorted by file and place.

    In a process that is ended after six seconds of work, where this one has such processes (`isolation/pool.py`), else
    here. Never raises for any content. A check that fails itself becomes the error `CHECK_FAILED`, one that does not
    end `CHECK_UNFINISHED`: not publishable. Raises `ChecksBusy` where too many bundles wait.
    """
    with tracing.span("validate bundle") as span:
        pool = current_pool()
        report = check_in_place(files, published) if pool is None else check_in_pool(pool, files, published)
        span.set("studio.capability_id", report.capability_id)
        span.set("studio.errors", len(report.errors))
        span.set("studio.warnings", len(report.warnings))
        return report
