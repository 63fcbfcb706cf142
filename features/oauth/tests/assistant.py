"""An assistant as tests need one: it signs a member in, step by step, and each step can be sent with something else."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from django.test import Client

from features.oauth import connections
from features.oauth.clients import register_client
from registry.models import Operator
from tests.unit.studio.forms import form_with

ISSUER: Final = "https://studio.example"
HOST: Final = "studio.example"
CALLBACK: Final = "https://assistant.example/callback"


def challenge_of(verifier: str) -> str:
    """S256 of RFC 7636."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


@dataclass
class Assistant:
    """One that has registered; `browser` is the member's, `http` its own."""

    browser: Client
    redirect_uri: str = CALLBACK
    client_id: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    http: Client = field(default_factory=lambda: Client(headers={"host": HOST}))

    def __post_init__(self) -> None:
        self.browser.defaults["HTTP_HOST"] = HOST
        self.browser.defaults["wsgi.url_scheme"] = "https"
        if not self.client_id:
            document = {"redirect_uris": [self.redirect_uri], "client_name": "Helper"}
            self.client_id = register_client(document, address="203.0.113.9").client_id

    def query(self, **changes: Any) -> dict[str, Any]:
        """The parameters of the page that asks the member; None leaves one out."""
        given = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "a state",
            "scope": "read feedback propose",
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "resource": f"{ISSUER}/mcp",
        }
        return {name: value for name, value in (given | changes).items() if value is not None}

    def ask(self, **changes: Any) -> Any:
        """The page, or what comes in its place."""
        return self.browser.get("/oauth/authorize", self.query(**changes))

    def allow(self, page: Any = None, *, decision: str = "allow", **fields: Any) -> Any:
        """The member's answer on the page."""
        form = form_with(page or self.ask(), "Allow access")
        return form.submit(self.browser, decision=decision, **fields)

    def get_code(self, **fields: Any) -> str:
        """The code with which the member's browser comes back."""
        return answer_of(self.allow(**fields))["code"]

    def redeem(self, code: str, **changes: Any) -> Any:
        """The response to a code."""
        given = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "resource": f"{ISSUER}/mcp",
        } | changes
        return self.http.post("/oauth/token", {name: value for name, value in given.items() if value is not None})

    def refresh(self, token: str, **changes: Any) -> Any:
        """The response to a refresh token."""
        given = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id} | changes
        return self.http.post("/oauth/token", given)

    def sign_in(self, **fields: Any) -> dict[str, Any]:
        """The whole way: the tokens."""
        response = self.redeem(self.get_code(**fields))
        assert response.status_code == 200, response.content
        tokens: dict[str, Any] = response.json()
        return tokens

    def call(self, token: str, method: str = "tools/list", **params: Any) -> Any:
        """The response of `/mcp`."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Authorization": f"Bearer {token}"}
        return self.http.post("/mcp", json.dumps(body), content_type="application/json", headers=headers)

    def call_tool(self, token: str, tool: str, **arguments: Any) -> Any:
        """The result of a tool, read."""
        response = self.call(token, "tools/call", name=tool, arguments=arguments)
        assert response.status_code == 200, response.content
        return json.loads(response.json()["result"]["content"][0]["text"])


def access_token(username: str, *scopes: str) -> str:
    """A token of this member, without the pages."""
    client, verifier = register_client({"redirect_uris": [CALLBACK]}, address="203.0.113.9"), "v" * 43
    code = connections.allow_client(
        operator=Operator.objects.get(username=username),
        client=client,
        redirect_uri=CALLBACK,
        code_challenge=challenge_of(verifier),
        scopes=scopes or connections.SCOPES,
    )
    given = {"code": code, "client_id": client.client_id, "redirect_uri": CALLBACK, "verifier": verifier}
    return connections.redeem_code(**given).access_token


def answer_of(response: Any) -> dict[str, str]:
    """What the client's address is given in its query."""
    assert response.status_code == 303, response.content.decode()[-3000:]
    return dict(parse_qsl(urlsplit(response.headers["Location"]).query))
