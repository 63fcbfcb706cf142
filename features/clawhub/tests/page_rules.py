"""It has no pages."""

from tests.feature_pages import FeaturePages

PAGES = FeaturePages(roles={})
