"""What clients find at the root."""

from django.urls import path, re_path

from features.oauth import endpoints

urlpatterns = [
    re_path(
        r"^\.well-known/oauth-protected-resource(?:/mcp/?)?\Z", endpoints.resource_metadata, name="resource_metadata"
    ),
    path(".well-known/oauth-authorization-server", endpoints.server_metadata, name="oauth_server_metadata"),
    path("oauth/token", endpoints.token, name="oauth_token"),
    path("oauth/register", endpoints.register, name="oauth_register"),
    path("oauth/revoke", endpoints.revoke, name="oauth_revoke"),
]
