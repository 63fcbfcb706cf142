"""Who may open the page of listings."""

from tests.feature_pages import FeaturePages

PAGES = FeaturePages(roles={"listing_budget_list": ("viewer", None)})
