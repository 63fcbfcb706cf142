"""The pages of sets, and Connect."""

from django.urls import path

from features.sets import connect_pages, pages

_SET = "sets/<capability_id:set_id>/"
urlpatterns = [
    path("sets/", pages.set_list, name="set_list"),
    path("new-set/", pages.set_new, name="set_new"),
    path(_SET, pages.set_show, name="set_show"),
    path(f"{_SET}edit/", pages.set_edit, name="set_edit"),
    path(f"{_SET}pin/", pages.set_pin, name="set_pin"),
    path(f"{_SET}delete/", pages.set_delete, name="set_delete"),
    path(f"{_SET}plugins/<str:plugin_form>.zip", pages.set_plugin_file, name="set_plugin_file"),
    path("connect/", connect_pages.connect_show, name="connect_show"),
    path("connect/key/", connect_pages.connect_key_create, name="connect_key_create"),
    path("connect/link/revoke/", connect_pages.connect_link_revoke, name="connect_link_revoke"),
    path("connect/link/", connect_pages.connect_link_create, name="connect_link_create"),
]
