"""Where git hosts and other registries say that something was pushed."""

from django.urls import re_path

from features.sources.api import source_hook

urlpatterns = [re_path(r"^hooks/sources/(?P<number>[0-9]{1,9})\Z", source_hook, name="source_hook")]
