"""A real OpenID Connect provider for tests: `oidc-provider-mock` as a process on this machine."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2

from tests.servers import free_port


@dataclass(frozen=True)
class IdentityProvider:
    """A provider that signs in anyone a test asks for."""

    url: str
    process: subprocess.Popen[bytes]

    def set_person(self, subject: str, **claims: object) -> None:
        """What the provider says of a person from now on."""
        httpx2.put(f"{self.url}/users/{subject}", json=claims).raise_for_status()

    def settings(self) -> dict[str, str]:
        """The Studio's settings for it."""
        return {
            "OIDC_ISSUER": self.url,
            "OIDC_CLIENT_ID": "capability-studio",
            "OIDC_CLIENT_SECRET": "a client secret",
            "OIDC_NAME": "Example Login",
            "OIDC_ROLES": "studio-admins=admin,studio-publishers=publisher,studio-authors=author",
        }


@contextmanager
def start_identity_provider() -> Iterator[IdentityProvider]:
    """Runs until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    provider = IdentityProvider(f"http://127.0.0.1:{port}", process)
    try:
        deadline = time.monotonic() + 60
        while not _is_up(provider.url):
            assert process.poll() is None, "the provider ended"
            assert time.monotonic() < deadline, "the provider did not come up"
            time.sleep(0.1)
        yield provider
    finally:
        process.terminate()
        process.wait(20)


def _is_up(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/.well-known/openid-configuration", timeout=2).status_code == 200
    except httpx2.TransportError:
        return False


def sign_in_at_provider(browser: httpx2.Client, studio_url: str, subject: str, *, query: str = "") -> httpx2.Response:
    """The whole way: the Studio's button, the provider's form, and back; the last response, redirects followed."""
    asked = browser.get(f"{studio_url}/sign-in/oidc/{query}", follow_redirects=True)
    assert "/oauth2/authorize" in str(asked.url), (asked.url, asked.text)
    return browser.post(str(asked.url), data={"sub": subject}, follow_redirects=True)


def parameters_of(url: str) -> dict[str, str]:
    """The query of an address."""
    return dict(re.findall(r"[?&]([a-z_]+)=([^&]*)", url))
