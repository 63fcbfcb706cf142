"""The pages of sources of tools."""

from django.urls import path

from features.tool_sources import pages, watch_pages

_SOURCE = "tool-sources/<int:number>/"
_TOOLS = "capabilities/<capability_id:capability_id>/tools/"
urlpatterns = [
    path("new-capability/api/", pages.tool_source_new, name="tool_source_new"),
    path(f"{_TOOLS}api/", pages.tool_source_add, name="tool_source_add"),
    path(f"{_SOURCE}choose/", pages.tool_source_choose, name="tool_source_choose"),
    path(f"{_TOOLS}api/<int:number>/", pages.tool_source_adopt, name="tool_source_adopt"),
    path(f"{_TOOLS}export/", pages.tool_export, name="tool_export"),
    path("tool-sources/", watch_pages.tool_source_list, name="tool_source_list"),
    path(_SOURCE, watch_pages.tool_source_show, name="tool_source_show"),
    path(f"{_SOURCE}check/", watch_pages.tool_source_check, name="tool_source_check"),
    path(f"{_SOURCE}remove/", watch_pages.tool_source_remove, name="tool_source_remove"),
    path(f"{_TOOLS}take-over/<str:tool_name>/", watch_pages.tool_take_over, name="tool_take_over"),
]
