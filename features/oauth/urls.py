"""Pages, in the namespace `studio`."""

from django.urls import path

from features.oauth import pages

urlpatterns = [
    path("oauth/authorize", pages.connection_allow, name="connection_allow"),
    path("connections/", pages.connection_list, name="connection_list"),
    path("connections/end/", pages.connection_end, name="connection_end"),
]
