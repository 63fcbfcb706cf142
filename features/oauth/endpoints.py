"""What clients call: metadata, registration, tokens, revocation. Errors are those of RFC 6749 5.2."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from agent_api.http.errors import error_response
from capability_kit.json_text import parse_json
from capability_rules.errors import InvalidRequest
from features.oauth import connections
from features.oauth.clients import RedirectUriInvalid, is_registration_open, register_client
from features.oauth.connections import ACCESS_SECONDS, SCOPES, GrantInvalid, IssuedTokens
from features.oauth.server_address import (
    AUTHORIZE,
    REGISTER,
    REVOKE,
    TOKEN,
    find_issuer,
    find_origin,
    get_external_issuer,
    get_resource,
    is_resource,
)
from registry.common import rate_limits
from registry.common.rate_limits import RateLimited

_REGISTRATION_BYTES_MAX: Final = 16 * 1024
View = Callable[[HttpRequest], HttpResponse]


def _endpoint(*methods: str, of_any_server: bool = False) -> Callable[[View], View]:
    """A view without cookies, which is not there where this server may not be one, or another one is in its place."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @require_http_methods(methods)
        @wraps(view)
        def guarded(request: HttpRequest) -> HttpResponse:
            if not (find_origin() if of_any_server else find_issuer()):
                words = "where PUBLIC_URL is HTTPS or loopback, at OAUTH_ISSUER where that is set"
                return error_response("NOT_FOUND", f"Assistants sign in {words}")
            try:
                if request.method == "POST":
                    # By network: before a body is read and the database is asked, whatever is sent.
                    network = rate_limits.network_of(str(request.META.get("REMOTE_ADDR")))
                    rate_limits.consume("write", f"oauth {network}")
                response = view(request)
            except RateLimited as error:
                response = _refuse("temporarily_unavailable", error.message, status=429)
                response["Retry-After"] = str(error.retry_after_seconds)
            response.headers.setdefault("Cache-Control", "no-store")
            return response

        return guarded

    return decorate


def _refuse(code: str, words: str, *, status: int = 400) -> HttpResponse:
    return JsonResponse({"error": code, "error_description": words}, status=status)


def _open_to_pages(values: dict[str, Any]) -> HttpResponse:
    """Metadata, which every page may read: a client may be one."""
    return JsonResponse(values, headers={"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"})


@_endpoint("GET", "HEAD", of_any_server=True)
def resource_metadata(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """RFC 9728."""
    return _open_to_pages(
        {
            "resource": get_resource(),
            "authorization_servers": [find_issuer() or get_external_issuer()],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "Capability Studio",
        }
    )


@_endpoint("GET", "HEAD")
def server_metadata(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """RFC 8414."""
    issuer = find_issuer()
    registration = {"registration_endpoint": issuer + REGISTER} if is_registration_open() else {}
    return _open_to_pages(
        {
            "issuer": issuer,
            "authorization_endpoint": issuer + AUTHORIZE,
            "token_endpoint": issuer + TOKEN,
            "revocation_endpoint": issuer + REVOKE,
            **registration,
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": True,
        }
    )


@_endpoint("POST")
def register(request: HttpRequest) -> HttpResponse:
    """RFC 7591."""
    if not is_registration_open():
        return error_response("NOT_FOUND", "Clients do not register here: OAUTH_REGISTRATION is off")
    document = parse_json(request.body) if len(request.body) <= _REGISTRATION_BYTES_MAX else None
    if not isinstance(document, dict):
        words = f"Send a JSON object of at most {_REGISTRATION_BYTES_MAX:,} bytes"
        return _refuse("invalid_client_metadata", words)
    try:
        client = register_client(document, address=str(request.META.get("REMOTE_ADDR", "")))
    except RedirectUriInvalid as error:
        return _refuse("invalid_redirect_uri", error.message)
    except InvalidRequest as error:
        return _refuse("invalid_client_metadata", error.message)
    registered = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created_at.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": " ".join(SCOPES),
    }
    return JsonResponse(registered, status=201)


@sensitive_post_parameters()
@_endpoint("POST")
def token(request: HttpRequest) -> HttpResponse:
    """A code or a refresh token for tokens (RFC 6749 4.1.3 and 6)."""
    given = request.POST
    if any(len(values) > 1 for _, values in given.lists()):
        return _refuse("invalid_request", "A parameter comes twice")
    if "Authorization" in request.headers or given.get("client_secret") or given.get("client_assertion"):
        return _refuse("invalid_client", "Clients have no secret here: send client_id alone", status=401)
    if "resource" in given and not is_resource(given.get("resource", "")):
        return _refuse("invalid_target", "resource must be the MCP server of this registry")
    client_id = given.get("client_id", "")
    try:
        if given.get("grant_type") == "authorization_code":
            issued = connections.redeem_code(
                code=given.get("code", ""),
                client_id=client_id,
                redirect_uri=given.get("redirect_uri", ""),
                verifier=given.get("code_verifier", ""),
            )
        elif given.get("grant_type") == "refresh_token":
            issued = connections.refresh_tokens(refresh_token=given.get("refresh_token", ""), client_id=client_id)
        else:
            return _refuse("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
    except GrantInvalid as error:
        return _refuse("invalid_grant", str(error))
    return JsonResponse(_as_response(issued))


def _as_response(issued: IssuedTokens) -> dict[str, Any]:
    return {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": ACCESS_SECONDS,
        "refresh_token": issued.refresh_token,
        "scope": " ".join(issued.scopes),
    }


@sensitive_post_parameters()
@_endpoint("POST")
def revoke(request: HttpRequest) -> HttpResponse:
    """RFC 7009: 200 for every token, so that nothing is learned of one."""
    connections.revoke_token(token=request.POST.get("token", ""), client_id=request.POST.get("client_id", ""))
    return HttpResponse(status=200)
