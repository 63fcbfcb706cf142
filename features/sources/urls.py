"""The pages of followed sources."""

from django.urls import path

from features.sources import pages

_SOURCE = "sources/<int:number>/"
urlpatterns = [
    path("sources/", pages.source_list, name="source_list"),
    path("new-source/", pages.source_create, name="source_create"),
    path(_SOURCE, pages.source_show, name="source_show"),
    path(f"{_SOURCE}change/", pages.source_change, name="source_change"),
    path(f"{_SOURCE}look/", pages.source_sync_now, name="source_look"),
    path(f"{_SOURCE}secret/", pages.source_secret, name="source_secret"),
    path(f"{_SOURCE}secret/keep/", pages.source_secret_set, name="source_secret_keep"),
    path(f"{_SOURCE}secret/end-old/", pages.source_secret_expire, name="source_secret_end"),
    path(f"{_SOURCE}secret/drop/", pages.source_secret_delete, name="source_secret_drop"),
    path(f"{_SOURCE}remove/", pages.source_remove, name="source_remove"),
]
