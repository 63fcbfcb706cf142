"""What publishing asks of evaluations: a rule for the whole registry, and one for each skill group that has one."""

from __future__ import annotations

from typing import Any, Final

from django.utils import timezone

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.errors import InvalidRequest
from features.evaluations.models import EvaluationRule
from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.core import audit
from registry.core.rows import get_row
from registry.core.transactions import write_transaction

COLUMNS: Final = ("share", "model")
_MODEL_LENGTH_MAX: Final = 200


def set_rule(*, group_id: str, share: int, model: str = "", by: Actor) -> EvaluationRule:
    """Make or change the rule of a group, or of the registry where `group_id` is empty. Raises `InvalidRequest`."""
    if group_id and not is_capability_id(group_id):
        raise InvalidRequest(f"'{group_id[:80]}' is not a valid group id: use lower-case words joined by _")
    if not 1 <= share <= 100:
        raise InvalidRequest(f"The share is 1 to 100 percent, found {share}")
    if len(model) > _MODEL_LENGTH_MAX or "\0" in model:
        raise InvalidRequest(f"The name of a model has at most {_MODEL_LENGTH_MAX} characters")
    with write_transaction():
        known = EvaluationRule.objects.filter(group_id=group_id).first()
        rule = known or EvaluationRule(group_id=group_id)
        was = _values(known)
        rule.share, rule.model, rule.updated_at, rule.updated_by = share, model, timezone.now(), str(by)
        rule.save()
        detail = {"group_id": group_id, **_values(rule), **audit.changed(was, _values(rule))}
        audit.record(by=by, verb="evaluation_rule.set", subject=group_id or "registry", detail=detail)
    return rule


def _values(rule: EvaluationRule | None) -> dict[str, Any]:
    """What the audit log keeps of a rule."""
    return {column: getattr(rule, column) for column in COLUMNS} if rule is not None else {}


def get_rule(group_id: str) -> EvaluationRule:
    """Of a group, or of the registry where it is empty. Raises `NotFound`."""
    missing = NotFound(f"There is no evaluation rule for '{group_id[:80] or 'registry'}'")
    return get_row(EvaluationRule.objects.filter(group_id=group_id), missing)


def delete_rule(*, group_id: str, by: Actor) -> None:
    """Ask for evaluations no more. Raises `NotFound`."""
    with write_transaction():
        rule = get_rule(group_id)
        detail = {"group_id": group_id, **audit.changed(_values(rule), {})}
        rule.delete()
        audit.record(by=by, verb="evaluation_rule.drop", subject=group_id or "registry", detail=detail)


def list_rules() -> list[EvaluationRule]:
    """That of the registry first, and those of groups by id."""
    return list(EvaluationRule.objects.all())
