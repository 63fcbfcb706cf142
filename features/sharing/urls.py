"""The page of a capability on who sees it."""

from django.urls import path

from features.sharing import pages

_SHARE = "capabilities/<capability_id:capability_id>/share/"
urlpatterns = [
    path(_SHARE, pages.capability_share, name="capability_share"),
    path(f"{_SHARE}visibility/", pages.capability_visibility, name="capability_visibility"),
    path(f"{_SHARE}code/", pages.install_code_rotate, name="install_code_rotate"),
    path(f"{_SHARE}link/", pages.share_link_create, name="share_link_create"),
    path(f"{_SHARE}link/revoke/", pages.share_link_revoke, name="share_link_revoke"),
    path(f"{_SHARE}first-run/", pages.first_run_set, name="first_run_set"),
]
