"""Listing budgets: what the product has of them beside the counting."""

from typing import Final

from django.utils.translation import gettext_lazy

from registry.feature import Feature, SectionTab

FEATURE: Final = Feature(
    name="listing_budgets",
    requires=("sets",),
    pages="features.listing_budgets.urls",
    section_tabs=(
        SectionTab(
            "studio:capability_list",
            gettext_lazy("Listings"),
            "studio:listing_budget_list",
            after="studio:set_list",
        ),
    ),
    panels={
        "capability.overview": "features.listing_budgets.panels.draw_listed",
        "gate.destinations": "features.listing_budgets.panels.draw_change",
    },
)
