"""OAuth for `/mcp`: what the product has of it beside the sign-in of an assistant."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.feature import Feature, SectionTab

# What of an account makes its member's connections end.
_ACCOUNT_CHANGES: Final = (
    *("operator.choose_password", "operator.disable", "operator.reset_password", "operator.reset_second_factor"),
    *("operator.set_password", "operator.set_role"),
)

FEATURE: Final = Feature(
    name="oauth",
    requires=("mcp",),
    events=(EventType("client.register"), EventType("connection.create"), EventType("connection.end")),
    job_handlers={"connection.prune": "features.oauth.connections.prune"},
    daily_jobs=("connection.prune",),
    audit_observers=dict.fromkeys(_ACCOUNT_CHANGES, ("features.oauth.connections.end_those_of_member",)),
    token_callers="features.oauth.token_callers.find_token_caller",  # noqa: S106 (a path)
    challenge="features.oauth.token_callers.describe_challenge",
    pages="features.oauth.urls",
    addresses="features.oauth.addresses",
    section_tabs=(
        SectionTab(
            "studio:operator_list",
            gettext_lazy("Connections"),
            "studio:connection_list",
            after="studio:agent_key_list",
            right="administer",
            around=("studio:connection",),
        ),
    ),
    dangerous_actions="features.oauth.dangerous_actions.ACTIONS",
    rights=("features.oauth.rights.RIGHTS",),
    panels={"account.security": "features.oauth.panels.draw_own"},
    secret_fields=("code_hash", "family_hash", "refresh_hash", "access_hash"),
    # Without the feature nothing ends them with an account, and they would be in force again with it.
    rows_kept={"oauth_connection": "connections of assistants"},
)
