"""The pages of waivers."""

from django.urls import path

from features.acceptances import pages

_OF_CAPABILITY = "capabilities/<capability_id:capability_id>/waivers/"
urlpatterns = [
    path(f"{_OF_CAPABILITY}new/", pages.waiver_create, name="waiver_create"),
    path(f"{_OF_CAPABILITY}end/", pages.waiver_end, name="waiver_end"),
]
