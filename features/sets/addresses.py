"""Addresses of sets for readers, at the root and below a share link."""

from django.urls import path, re_path

from agent_api.integrations.access import AT_ROOT_OR_SHARED
from features.sets import connect_pages, reader_api

urlpatterns = [
    path("api/v1/set_list", reader_api.set_list, name="set_list"),
    path("api/v1/set_load", reader_api.set_load, name="set_load"),
    re_path(
        AT_ROOT_OR_SHARED + r"\.claude-plugin/marketplace\.json\Z", reader_api.marketplace_show, name="marketplace"
    ),
    re_path(
        AT_ROOT_OR_SHARED + r"sets/(?P<set_id>[a-z0-9_]{1,64})/(?P<version>latest|[0-9.]{1,40})/"
        r"(?P<form>[a-z-]{1,20})\.(?P<kind>zip|dsse\.json)\Z",
        reader_api.plugin_show,
        name="set_plugin",
    ),
    # A person who was given a link opens it as it is.
    re_path(
        r"^share/(?P<token>[A-Za-z0-9_-]{20,100})(?:/connect)?/?\Z", connect_pages.shared_connect, name="shared_connect"
    ),
]
