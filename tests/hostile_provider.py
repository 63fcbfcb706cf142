"""An OpenID Connect provider for tests whose answers are wrong in any way that a test wants."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID = "capability-studio"


def make_key(kid: str = "first") -> tuple[rsa.RSAPrivateKey, dict[str, Any]]:
    """A private key, and the public one as a set of keys has it."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    return private, public | {"kid": kid, "use": "sig", "alg": "RS256"}


@dataclass
class HostileProvider:
    """`documents` replace what it says at a path; `claims` are those of the ID token, with those of every token."""

    url: str = ""
    documents: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    info: Any = None
    # Makes the token from its claims; None for the token that it should be.
    sign: Any = None
    nonce: str = ""
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.private, self.public = make_key()

    def reset(self) -> None:
        """Say what is right again."""
        self.documents, self.claims, self.info, self.sign = {}, {}, None, None
        self.requests.clear()

    def settings(self) -> dict[str, str]:
        """The Studio's settings for it."""
        return {
            "OIDC_ISSUER": self.url,
            "OIDC_CLIENT_ID": CLIENT_ID,
            "OIDC_CLIENT_SECRET": "a client secret",
            "OIDC_NAME": "Example Login",
            "OIDC_ROLES": "admins=admin,authors=author",
        }

    def all_claims(self) -> dict[str, Any]:
        """Those of the next ID token; a claim that a test has set to None is left out."""
        now = int(time.time())
        usual = {"iss": self.url, "aud": CLIENT_ID, "sub": "ada-1", "iat": now, "exp": now + 300}
        person = {"preferred_username": "ada", "name": "Ada L", "email": "ada@example.com", "groups": ["authors"]}
        claims = usual | person | {"auth_time": now} | self.claims
        claims = {"nonce": self.nonce} | claims
        return {name: value for name, value in claims.items() if value is not None}

    def answer(self, path: str) -> Any:
        """The document at a path."""
        if path in self.documents:
            return self.documents[path]
        if path == "/jwks":
            return {"keys": [self.public]}
        if path == "/token":
            sign = self.sign or (lambda claims: jwt.encode(claims, self.private, "RS256", {"kid": self.public["kid"]}))
            return {"access_token": "a", "token_type": "Bearer", "id_token": sign(self.all_claims())}
        if path == "/userinfo":
            return {"sub": self.all_claims().get("sub")} if self.info is None else self.info
        endpoints = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
        found = {name: f"{self.url}/{path}" for name, path in endpoints.items()}
        return {"issuer": self.url, "jwks_uri": f"{self.url}/jwks"} | found

    def sign_in(self, studio_url: str, browser: httpx2.Client, query: str = "") -> httpx2.Response:
        """The whole way as a browser goes it, but for the provider's own page; the last response."""
        asked = browser.get(f"{studio_url}/sign-in/oidc/{query}").headers["Location"]
        given = {name: httpx2.QueryParams(asked.partition("?")[2])[name] for name in ("state", "nonce")}
        self.nonce = given["nonce"]
        back = {"code": "c", "state": given["state"]}
        return browser.get(f"{studio_url}/sign-in/oidc/callback/", params=back)


@contextmanager
def start_hostile_provider() -> Iterator[HostileProvider]:
    """Serves until the block ends."""
    provider = HostileProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = re.sub(r"\?.*", "", self.path)
            provider.requests.append(path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer = provider.answer(path)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 (the base class names it)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
