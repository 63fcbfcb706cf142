"""Sets of capabilities: what the product has of them beside the skills themselves."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.common.event_type import EventType
from registry.feature import Feature, SectionTab

FEATURE: Final = Feature(
    name="sets",
    requires=("mcp", "sharing"),
    events=(
        EventType("set.save", gettext_lazy("Saved revision %(revision)s of the set")),
        EventType("set.delete", gettext_lazy("Deleted the set")),
    ),
    pages="features.sets.urls",
    addresses="features.sets.addresses",
    operator_api={name: f"features.sets.api.{name}" for name in ("set_delete", "set_export", "set_save")},
    section_tabs=(
        SectionTab(
            "studio:capability_list", gettext_lazy("Sets"), "studio:set_list", shortcut="1", around=("studio:set_",)
        ),
    ),
    panels={"capability.overview": "features.sets.panels.draw_sets"},
    navigation="features.sets.navigation.SECTIONS",
    dangerous_actions="features.sets.dangerous_actions.ACTIONS",
    set_members="features.sets.set_reader.list_member_ids",
    rows_kept={"sets_capabilityset": "sets"},
)
