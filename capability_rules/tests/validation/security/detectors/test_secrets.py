"""Credentials are found by their shape; examples and placeholders are left alone; a secret is never repeated.

All values are invented, and put together here so that no scanner of this repository takes them for real.
"""

from __future__ import annotations

import base64
import json
import random

import pytest

from capability_rules.tests.validation.security.pages import codes_of_page, problems_of_page, severity

LETTERS = "abcdefghijkmnpqrstuvwxyzACDEFGHJKLMNPQRSTUVWXYZ23456789"


def made(length: int, alphabet: str = LETTERS, seed: int = 3) -> str:
    """The same invented letters each time."""
    draw = random.Random(seed)
    return "".join(draw.choice(alphabet) for _ in range(length))


def web_token(claims: dict[str, object]) -> str:
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "HS256"}, claims)
    ]
    return ".".join([*parts, made(43)])


SHAPED = {
    "aws": "AK" + "IA" + made(16, "ABCDEFGHJKLMNPQRSTUVWXYZ234567"),
    "github": "gh" + "p_" + made(36),
    "github-fine": "github" + "_pat_" + made(60),
    "gitlab": "gl" + "pat-" + made(20),
    "slack": "xo" + "xb-" + made(40),
    "slack-webhook": "https://hooks.slack" + ".com/services/T0A1B2C3D/B0A1B2C3D/" + made(24),
    "anthropic": "sk-" + "ant-api03-" + made(60),
    "openai": "sk-" + "proj-" + made(60),
    "hugging-face": "hf" + "_" + made(34),
    "google": "AI" + "za" + made(35),
    "stripe": "sk" + "_live_" + made(24),
    "sendgrid": "SG" + "." + made(22) + "." + made(43),
    "npm": "np" + "m_" + made(36),
    "telegram": "712345678" + ":AA" + made(33),
    "azure": "Account" + "Key=" + made(86) + "==",
    "aws-secret": "the secret " + made(40, LETTERS + "/+"),
    "url": "postgres://svc:" + "Zk9vQw42Lm" + "@db.internal.test:5432/app",
    "web-token": web_token({"iss": "studio", "exp": 1999999999}),
    "private-key": "-----BEGIN "
    "RSA PRIVATE KEY-----\n" + made(64, LETTERS + "+/") + "\n-----END RSA " + "PRIVATE KEY-----",
}


@pytest.mark.parametrize("secret", SHAPED.values(), ids=SHAPED)
def test_a_credential_is_an_error_and_is_not_repeated(secret: str) -> None:
    found = [each for each in problems_of_page(f"Use {secret} here.") if each.code == "SEC_SECRET"]
    assert [severity(each) for each in found] == ["error"]
    body = secret.split("@", maxsplit=1)[0].rsplit(":", maxsplit=1)[-1] if secret.startswith("postgres") else secret
    assert body[:12] not in found[0].message


@pytest.mark.parametrize(
    "passage",
    [
        "export OPENAI_API_KEY=sk-...",
        "sk-" + "your-key-here-your-key-here-your-key-here",
        "gh" + "p_" + "x" * 36,
        "AK" + "IAIOSFODNN7" + "EXAMPLE",
        "postgres://user:password@host/db",
        "postgres://app:${DB_PASSWORD}@db.internal.test/app",
        "redis://:s3cretpw99@localhost:6379/0",
        "Authorization: Bearer $TOKEN",
        "-----BEGIN " + "PRIVATE KEY-----\n...\n-----END " + "PRIVATE KEY-----",
        "token: <your token>",
        "password = get_secret('db')",
        '"nextToken": "eyJvZmZzZXQiOiAxMDAsICJwYWdlIjogMn0x9"',
        "secret: 5f2b1c34-9d6e-4f0a-8b7c-1a2b3c4d5e6f",
        "sk-learn and sk-image are packages",
    ],
)
def test_an_example_is_no_credential(passage: str) -> None:
    assert codes_of_page(passage) & {"SEC_SECRET", "SEC_POSSIBLE_SECRET"} == set()


def test_a_value_beside_the_word_password_is_a_warning() -> None:
    (problem,) = problems_of_page("password: " + "h7Kq-29xL" + "-vv04")
    assert (problem.code, severity(problem)) == ("SEC_POSSIBLE_SECRET", "warning")
    assert "29xL" not in problem.message


def test_a_sample_web_token_is_a_warning_at_most() -> None:
    found = problems_of_page(web_token({"some": "payload"}))
    assert [severity(each) for each in found if each.code == "SEC_SECRET"] == ["warning"]
