"""Who may do what, against what the audit log says of it: a file that somebody changed may have one more admin."""

from __future__ import annotations

from django.db.models import QuerySet

from registry.models import AgentKey, AuditEvent, Operator

_ROLE_VERBS = ("operator.create", "operator.set_role")


def find_unrecorded_access() -> tuple[str, ...]:
    """People and roles that the audit log does not account for, and keys that are not revoked, in words."""
    people = Operator.objects.order_by("username").values_list("username", "role", "is_superuser")
    roles = {subject: detail.get("role") for subject, detail in _rows(*_ROLE_VERBS)}
    found = []
    for username, role, is_superuser in people:
        if username not in roles:
            found.append(f"operator '{username}' ({role})")
        elif roles[username] != role or (is_superuser and role != Operator.Role.ADMIN):
            found.append(f"role '{role}' of operator '{username}'")
    keys = {subject for subject, _ in _rows("agent_key.create")}
    names = AgentKey.objects.filter(revoked_at__isnull=True).order_by("name").values_list("name", flat=True)
    return (*found, *(f"agent key '{name}'" for name in names if name not in keys))


def _rows(*verbs: str) -> QuerySet[AuditEvent, tuple[str, dict[str, str]]]:
    return AuditEvent.objects.filter(verb__in=verbs).order_by("id").values_list("subject", "detail")
