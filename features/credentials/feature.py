"""Credentials: what the product has of them beside their use."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.feature import Feature, SectionTab

FEATURE: Final = Feature(
    name="credentials",
    events=tuple(EventType(f"credential.{verb}") for verb in ("close", "create", "end", "open", "replace", "use")),
    job_handlers={"credential.encrypt": "features.credentials.credential_store.encrypt_stored"},
    daily_jobs=("credential.encrypt",),
    pages="features.credentials.urls",
    section_tabs=(
        SectionTab(
            "studio:operator_list",
            gettext_lazy("Credentials"),
            "studio:credential_list",
            after="studio:agent_key_list",
            shortcut="3",
            right="administer",
            around=("studio:credential",),
        ),
    ),
    dangerous_actions="features.credentials.dangerous_actions.ACTIONS",
    rows_kept={"credentials_credential": "credentials"},
    rights=("features.credentials.rights.RIGHTS",),
    import_login="features.credentials.git_logins.open_for_import",
    panels={"import.git": "features.credentials.panels.draw_choice"},
    secret_fields=("Credential.secret",),
)
