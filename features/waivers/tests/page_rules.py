"""Who may open the pages of waivers, and what their forms do."""

from tests.feature_pages import FeaturePages

PAGES = FeaturePages(roles={})
