"""Whether a page offers to waive a finding."""

from __future__ import annotations

from typing import Any

from django import template

from capability_rules.validation import Finding
from features.acceptances.accepted_findings import explain_unwaivable
from registry.models import Operator

register = template.Library()


@register.filter
def waivable_by(finding: Finding | dict[str, Any], user: Operator) -> bool:
    """Whether the person may waive it: errors are for admins, warnings for publishers too."""
    if not isinstance(finding, Finding) or finding.waiver is not None or not finding.fingerprint:
        return False
    may = user.can_administer if finding.severity == "error" else user.can_publish
    return bool(may) and not explain_unwaivable(finding, ())
