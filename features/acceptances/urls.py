"""The pages of waivers and of decisions about held passages."""

from django.urls import path

from features.acceptances import pages

_ONE = "capabilities/<capability_id:capability_id>/"
urlpatterns = [
    path(f"{_ONE}waivers/new/", pages.waiver_create, name="waiver_create"),
    path(f"{_ONE}waivers/end/", pages.waiver_end, name="waiver_end"),
    path(f"{_ONE}decisions/", pages.decision_show, name="decision_show"),
    path("decisions/", pages.decision_list, name="decision_list"),
]
