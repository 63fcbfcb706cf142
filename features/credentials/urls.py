"""The pages of credentials."""

from django.urls import path

from features.credentials import pages

urlpatterns = [
    path("credentials/", pages.credential_list, name="credential_list"),
    path("credentials/replace/", pages.credential_replace, name="credential_replace"),
    path("credentials/open/", pages.credential_open, name="credential_open"),
    path("credentials/end/", pages.credential_end, name="credential_end"),
]
