"""The pages of git mirrors."""

from django.urls import path

from features.git_mirrors import pages

urlpatterns = [
    path("mirrors/", pages.git_mirror_list, name="git_mirror_list"),
    path("mirrors/new/", pages.git_mirror_create, name="git_mirror_create"),
    path("mirrors/<int:number>/", pages.git_mirror_show, name="git_mirror_show"),
    path("mirrors/<int:number>/preview/", pages.git_mirror_preview, name="git_mirror_preview"),
    path("mirrors/<int:number>/start/", pages.git_mirror_start, name="git_mirror_start"),
    path("mirrors/<int:number>/push/", pages.git_mirror_push, name="git_mirror_push"),
    path("mirrors/<int:number>/continue/", pages.git_mirror_continue, name="git_mirror_continue"),
    path("mirrors/<int:number>/consent/", pages.git_mirror_consent, name="git_mirror_consent"),
    path("mirrors/<int:number>/withdraw/", pages.git_mirror_withdraw, name="git_mirror_withdraw"),
    path("mirrors/<int:number>/remove/", pages.git_mirror_remove, name="git_mirror_remove"),
]
