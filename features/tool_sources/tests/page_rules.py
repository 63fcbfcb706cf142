"""Who may open the pages of sources of tools, and what their forms do."""

from features.tool_sources.models import ToolBinding, ToolSource, ToolSourceItem
from registry.models import Capability
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A document with one operation, which alpha has as a tool."""
    source = ToolSource.objects.create(kind="document", title="Pets", form="OpenAPI", digest="0", created_by="olga")
    item = {"key": "GET /pets", "contract": {}, "digest": "0"}
    ToolSourceItem.objects.create(source=source, position=0, name="pets", is_read=True, **item)
    alpha = Capability.objects.get(capability_id="alpha")
    ToolBinding.objects.create(source=source, capability=alpha, tool_name="pets", created_by="olga", **item)


PAGES = FeaturePages(roles={}, furnish=furnish)
