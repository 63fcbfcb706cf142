"""`run.py secrets`: a .env with new secrets, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.launcher.console import Refusal
from studio.launcher.env_file import fill_template, write_compose_env
from tests.servers import ROOT


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".env.example").write_text((ROOT / ".env.example").read_text())
    return tmp_path


def values(root: Path) -> dict[str, str]:
    lines = (root / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_every_required_value_is_there(root: Path) -> None:
    assert write_compose_env(root, ["https://studio.example.com:8443/"]) == 0
    found = values(root)
    assert found.pop("PUBLIC_URL") == "https://studio.example.com:8443"
    assert found.pop("ALLOWED_HOSTS") == "studio.example.com"
    assert set(found) == {"SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert all(len(secret) >= 32 and secret.isalnum() for secret in found.values())
    assert len(set(found.values())) == 3
    assert (root / ".env").stat().st_mode & 0o777 == 0o600


def test_each_env_has_its_own_secrets(root: Path) -> None:
    write_compose_env(root, ["https://studio.example.com"])
    first = values(root)
    (root / ".env").unlink()
    write_compose_env(root, ["https://studio.example.com"])
    assert not set(first.values()) & set(values(root).values()) - {"https://studio.example.com", "studio.example.com"}


def test_a_second_call_leaves_what_is_there(root: Path) -> None:
    (root / ".env").write_text("SECRET_KEY=kept\n")
    with pytest.raises(Refusal, match="exists and is left as it is"):
        write_compose_env(root, ["https://studio.example.com"])
    assert (root / ".env").read_text() == "SECRET_KEY=kept\n"


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["studio.example.com"], ["https://studio.example.com/path"]])
def test_an_odd_address_is_refused(root: Path, arguments: list[str]) -> None:
    with pytest.raises(Refusal) as caught:
        write_compose_env(root, arguments)
    assert caught.value.exit_code == 2
    assert not (root / ".env").exists()


def test_a_line_with_a_value_or_a_comment_stays() -> None:
    assert fill_template("# A=\nA=\nB=1\n", {"A": "2", "B": "3"}) == "# A=\nA=2\nB=1\n"
