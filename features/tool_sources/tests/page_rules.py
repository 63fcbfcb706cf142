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


PAGES = FeaturePages(
    roles={
        "tool_source_new": ("author", "author"),
        "tool_source_add": ("author", "author"),
        "tool_source_choose": ("author", "author"),
        "tool_source_adopt": ("author", "author"),
        "tool_source_check": ("author", "author"),
        "tool_source_remove": ("author", "author"),
        "tool_take_over": ("author", "author"),
    },
    confirmed={"tool_source_remove": dict},
    harmless={
        "tool_source_new": "Remove source",
        "tool_source_add": "Remove source",
        "tool_source_adopt": "writes to the draft only",
        "tool_source_check": "reads the source again",
        "tool_source_choose": "creates a draft, which can be discarded",
        "tool_take_over": "writes to the draft only, over edited fields where a box is ticked; Draft history keeps it",
    },
    ordinary=frozenset(
        (
            "tool_source_new",
            "tool_source_add",
            "tool_source_choose",
            "tool_source_adopt",
            "tool_source_check",
            "tool_source_remove",
            "tool_take_over",
        ),
    ),
    numbered={"tool_source": ToolSource},
    furnish=furnish,
)
