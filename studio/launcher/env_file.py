"""`run.py secrets`: make the `.env` that docker-compose.yml reads, out of `.env.example` and new random secrets."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from studio.config.parsers import parse_origin
from studio.launcher.console import Refusal, say

# Hexadecimal digits, so that no password need be encoded within a URL.
_SECRETS = {"SECRET_KEY": 32, "POSTGRES_PASSWORD": 24, "REDIS_PASSWORD": 24}


def write_compose_env(root: Path, arguments: Sequence[str]) -> int:
    """Write `.env` beside docker-compose.yml, readable by its owner alone.

    Raises Refusal if the URL is invalid or missing, and if a `.env` exists: its passwords may be those of an
    existing database.
    """
    public_url = _public_url(arguments)
    target = root / ".env"
    if target.exists():
        raise Refusal(f"{target} exists and is left as it is. Fix: edit it, or move it away to start again.")
    text = fill_template((root / ".env.example").read_text("utf-8"), values_for(public_url))
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    say(f"Wrote {target}. Keep a copy where you keep secrets: the database and the sessions depend on it.")
    return 0


def _public_url(arguments: Sequence[str]) -> str:
    if len(arguments) != 1:
        raise Refusal(
            "Say at which address users will find it: python3 run.py secrets https://studio.example.com", exit_code=2
        )
    try:
        return parse_origin(arguments[0])
    except ValueError as error:
        raise Refusal(f"The address {error}", exit_code=2) from error


def values_for(public_url: str) -> dict[str, str]:
    """The variables that have no default, with newly generated secrets."""
    made = {name: secrets.token_hex(size_bytes) for name, size_bytes in _SECRETS.items()}
    return {"PUBLIC_URL": public_url, "ALLOWED_HOSTS": urlsplit(public_url).hostname or "", **made}


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """`template` with `NAME=` lines completed; every other line as it is."""
    lines = template.splitlines()
    return "\n".join(f"{line}{values.get(line[:-1], '')}" if line.endswith("=") else line for line in lines) + "\n"
