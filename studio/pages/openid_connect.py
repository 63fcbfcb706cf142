"""django-allauth's client of OpenID Connect, with each document of the provider checked before it is used.

The library takes the shapes of a provider's answers for granted, and an ID token that comes from the token endpoint
unverified. Imported only where `OIDC_ISSUER` is set: `requests` is part of the extra `oidc`.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import requests
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest

from capability_kit.http_address import HttpAddress
from studio.pages.id_tokens import IdTokenInvalid, iterate_keys, verify_id_token
from studio.pages.provider_claims import read_subject

logger = logging.getLogger(__name__)
_ADDRESSES: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")
# What reading a document of another shape raises.
_SHAPE_ERRORS: Final = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
Call = TypeVar("Call", bound=Callable[..., Any])


def _refusing_other_shapes(call: Call) -> Call:
    """The same, with an answer of another shape as `OAuth2Error`, which django-allauth shows as a page."""

    @functools.wraps(call)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except (IdTokenInvalid, OAuth2Error, requests.RequestException) as error:
            logger.warning("the identity provider's answer was refused: %s", str(error)[:300])
            raise error if not isinstance(error, IdTokenInvalid) else OAuth2Error(str(error)) from error
        except _SHAPE_ERRORS as error:
            logger.warning("the identity provider's answer has another shape: %r", error)
            raise OAuth2Error("the answer has another shape than OpenID Connect's") from error

    return checked  # type: ignore[return-value]


class ProviderAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc] # allauth has no types
    """One sign-in at the provider."""

    @property
    def openid_config(self) -> Mapping[str, Any]:
        """The discovery document. Raises `OAuth2Error`."""
        if not hasattr(self, "_openid_config"):
            self._openid_config = self._read_discovery()
        return self._openid_config

    @_refusing_other_shapes
    def _read_discovery(self) -> Mapping[str, Any]:
        found = _get_object(self.get_provider().server_url)
        if not isinstance(found["issuer"], str):
            raise TypeError("issuer is not a text")
        addresses = [found[name] for name in _ADDRESSES if name != "userinfo_endpoint" or name in found]
        if not all(_is_safe(address) for address in addresses):
            raise ValueError("an address of the provider is not https")
        return found

    @_refusing_other_shapes
    def get_access_token_data(self, *args: Any, **kwargs: Any) -> dict[str, str]:
        """What the token endpoint has for the code; of it what is used here. Raises `OAuth2Error`."""
        found = super().get_access_token_data(*args, **kwargs)
        tokens = {name: found[name] for name in ("access_token", "id_token")}
        if not all(isinstance(token, str) for token in tokens.values()):
            raise TypeError("a token is not a text")
        return tokens

    @_refusing_other_shapes
    def complete_login(self, request: HttpRequest, app: Any, token: Any, **kwargs: Any) -> SocialLogin:  # noqa: ARG002 (the library calls it so)
        """Who signs in: `claims` has what the verified ID token says, and the user info about the same person.

        Raises `OAuth2Error`, and `InvalidRequest` for a person who cannot be stored.
        """
        config, provider = self.openid_config, self.get_provider()
        key_sets = iterate_keys(config["jwks_uri"], _get_object)
        claims = verify_id_token(
            kwargs["response"]["id_token"], key_sets, issuer=config["issuer"], client_id=app.client_id
        )
        info = self._get_user_info(token.token)
        # OpenID Connect Core 5.3.2: it could be about somebody else.
        if info and info["sub"] != claims["sub"]:
            raise OAuth2Error("the user info is about another person")
        account = SocialAccount(provider=provider.sub_id, uid=read_subject(claims))
        login = SocialLogin(account=account, provider=provider)
        login.claims = {**info, **claims}
        return login

    def _get_user_info(self, access_token: str) -> dict[str, Any]:
        address = self.openid_config.get("userinfo_endpoint")
        if address is None:
            return {}
        found = _get_object(address, Authorization=f"Bearer {access_token}")
        if "sub" not in found:
            raise KeyError("sub")
        return found


def _get_object(url: str, **headers: str) -> dict[str, Any]:
    """The JSON object at an address. Raises `RequestException`, and an error of `_SHAPE_ERRORS` for anything else."""
    with get_adapter().get_requests_session() as session:
        response = session.get(url, headers=headers)
        response.raise_for_status()
        found = response.json()
    if not isinstance(found, dict):
        raise TypeError(f"{urlsplit(url).path} is not an object")
    return found


def _is_safe(address: Any) -> bool:
    parsed = HttpAddress.parse(address) if isinstance(address, str) else None
    return parsed is not None and (parsed.scheme == "https" or parsed.is_loopback)
