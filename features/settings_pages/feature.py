"""Settings on pages: what the product has of them beside their use."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.feature import Feature, SectionTab


def _tab(label: Promise, page: str, after: str) -> SectionTab:
    name, before = f"studio:settings_{page}", f"studio:{after}"
    return SectionTab("studio:operator_list", label, name, after=before, right="administer", around=(name,))


FEATURE: Final = Feature(
    name="settings_pages",
    requires=("credentials", "evaluations"),
    events=(EventType("settings.model"), EventType("settings.data"), EventType("settings.mail")),
    pages="features.settings_pages.urls",
    section_tabs=(
        _tab(gettext_lazy("Model"), "model", "release_rule_list"),
        _tab(gettext_lazy("Data"), "data", "settings_model"),
        _tab(gettext_lazy("Mail"), "mail", "settings_data"),
    ),
    dangerous_actions="features.settings_pages.dangerous_actions.ACTIONS",
    rights=("features.settings_pages.rights.RIGHTS",),
    mail_connection="features.settings_pages.mail_connection.open_connection",
    model_key="features.settings_pages.settings_store.open_model_key",
)
