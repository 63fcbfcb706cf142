"""The addresses that django-allauth looks up by names of its own. Of its many addresses these are all there are."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

from studio.pages.views import second_step, sign_in, single_sign_on

_PROVIDER = {"provider_id": settings.OIDC_PROVIDER_ID}

urlpatterns = [
    # The same page as `studio:sign_in`, which is found first.
    path("sign-in/", sign_in.sign_in, name="account_login"),
    path("sign-in/second-step/", second_step.second_step, name="mfa_authenticate"),
    path("sign-in/oidc/", single_sign_on.begin, _PROVIDER, name="openid_connect_login"),
    path("sign-in/oidc/callback/", single_sign_on.complete, _PROVIDER, name="openid_connect_callback"),
]
