"""Who may do what, against what the audit log says of it: a file that somebody changed may have one more admin."""

from __future__ import annotations

from allauth.socialaccount.models import SocialAccount
from django.db.models import QuerySet

from registry.models import AgentKey, AuditEvent, Operator

_ROLE_VERBS = ("operator.create", "operator.set_role")


def find_unrecorded_access() -> tuple[str, ...]:
    """People, roles and names at an identity provider that the audit log does not account for, and keys that are not
    revoked, in words."""
    people = Operator.objects.order_by("username").values_list("username", "role", "is_superuser")
    roles = {subject: detail.get("role") for subject, detail in _rows(*_ROLE_VERBS)}
    found = []
    for username, role, is_superuser in people:
        if username not in roles:
            found.append(f"operator '{username}' ({role})")
        elif roles[username] != role or (is_superuser and role != Operator.Role.ADMIN):
            found.append(f"role '{role}' of operator '{username}'")
    found += _unrecorded_links()
    keys = {subject for subject, _ in _rows("agent_key.create")}
    names = AgentKey.objects.filter(revoked_at__isnull=True).order_by("name").values_list("name", flat=True)
    return (*found, *(f"agent key '{name}'" for name in names if name not in keys))


def _unrecorded_links() -> list[str]:
    """Anyone who has the account at the provider signs in as that operator: each link has its row."""
    known = {
        (subject, detail.get("provider"), detail.get("subject")) for subject, detail in _rows("operator.link_identity")
    }
    links = SocialAccount.objects.order_by("pk").values_list("user__username", "provider", "uid")
    return [
        f"identity '{uid}' of operator '{username}'"
        for username, provider, uid in links
        if (username, provider, uid[:200]) not in known
    ]


def _rows(*verbs: str) -> QuerySet[AuditEvent, tuple[str, dict[str, str]]]:
    return AuditEvent.objects.filter(verb__in=verbs).order_by("id").values_list("subject", "detail")
