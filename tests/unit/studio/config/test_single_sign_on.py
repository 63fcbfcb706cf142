"""The settings of the identity provider."""

from __future__ import annotations

import pytest

from registry.access import operators
from studio.config.environment import ConfigurationError, read_environment
from studio.config.parsers import parse_domains
from studio.config.single_sign_on import (
    ROLES,
    parse_group_roles,
    parse_issuer,
    parse_label,
    parse_roles,
    parse_scopes,
)
from tests.servers import ROOT


def test_the_roles_are_those_of_operators() -> None:
    assert operators.ROLES == ROLES


def test_what_is_right_is_read() -> None:
    assert parse_issuer("https://login.example.com/realms/a/") == "https://login.example.com/realms/a"
    assert parse_issuer("http://127.0.0.1:9400") == "http://127.0.0.1:9400"
    assert dict(parse_group_roles("studio-admins=admin, CN=x=author,")) == {"studio-admins": "admin", "CN=x": "author"}
    assert parse_scopes("profile groups") == ("openid", "profile", "groups")
    assert parse_roles("admin, publisher") == ("admin", "publisher")
    assert parse_domains("Example.com, mail.example.org,") == ("example.com", "mail.example.org")


def test_what_is_wrong_is_refused() -> None:
    for text in ("http://login.example.com", "login.example.com", "https://a@b.example", "https://x.example/?a=1",
                 "https://x.example/.well-known/openid-configuration", "https://[::1"):  # fmt: skip
        with pytest.raises(ValueError, match="expected"):
            parse_issuer(text)
    for text in ("admins", "admins=root", "=admin"):
        with pytest.raises(ValueError, match="expected pairs"):
            parse_group_roles(text)
    for text in ("*", ".example.com", "example", "@example.com", "ex\u0430mple.com", "a@example.com"):
        with pytest.raises(ValueError, match="expected domains"):
            parse_domains(text)
    for parse, text in ((parse_scopes, 'a"b'), (parse_label, "x" * 41), (parse_label, "a\tb"), (parse_roles, "root")):
        with pytest.raises(ValueError, match="expected"):
            parse(text)


def test_an_issuer_needs_a_client_and_roles() -> None:
    with pytest.raises(ConfigurationError) as found:
        read_environment({"OIDC_ISSUER": "https://login.example.com"}, base_dir=ROOT)
    assert [problem.split()[0] for problem in found.value.problems] == ["OIDC_CLIENT_ID", "OIDC_ROLES"]


def test_another_authorization_server_needs_domains() -> None:
    with pytest.raises(ConfigurationError) as found:
        read_environment({"OAUTH_ISSUER": "https://login.example.com"}, base_dir=ROOT)
    assert [problem.split()[0] for problem in found.value.problems] == ["OAUTH_DOMAINS"]
