"""*Test connection*: which models a server says that it has. Nothing else of its answer is kept or shown."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_client.evaluation.key_mask import KeyMask
from capability_client.evaluation.model_port import ModelSettings, build_vendor_headers
from capability_kit.http_address import HttpAddress
from capability_kit.json_text import parse_json
from capability_rules.errors import RegistryError
from features.evaluations.model_settings import NETWORKS, get_model, is_model_of_server
from registry.common.actors import Actor
from registry.common.net.guarded_client import RESOLVE_SECONDS, GuardedRequest, allowed_addresses
from registry.common.net.ip_policy import Address, AddressNotAllowed, resolve
from registry.common.rate_limits import RATE_LIMITER

ProbeState = Literal["models", "refused", "no_list", "key_unusable", "address", "timeout", "unreachable"]
SECONDS_MAX: Final = 10.0
BYTES_MAX: Final = 1024 * 1024
NAMES_MAX: Final = 100
TRIES_A_MINUTE: Final = 10
# What a name of a model is made of: nothing else of what a server says gets onto a page.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@+-]{0,79}")


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of it: the HTTP status where there was an answer, and the names."""

    state: ProbeState
    status: int | None = None
    names: tuple[str, ...] = ()


def probe_model(*, by: Actor) -> Probe:
    """Ask the model's server for its models. Raises `RateLimited`."""
    RATE_LIMITER.consume("write", f"model test by {by}", count=TRIES_A_MINUTE, seconds=60)
    try:
        model = get_model("")
    except RegistryError:
        return Probe("key_unusable")
    path = "/models" if model.kind == "openai" else "/v1/models"
    request = GuardedRequest("GET", model.url.rstrip("/") + path, _headers(model), BYTES_MAX + 1)
    until = time.monotonic() + SECONDS_MAX
    try:
        request.send(_find_addresses(model.url), until)
    except AddressNotAllowed:
        return Probe("address")
    except TimeoutError:
        return Probe("timeout")
    except Exception:  # noqa: BLE001 (whatever httpx2 raises: the server may answer with anything)
        return Probe("unreachable")
    status = request.status or 0
    if status != 200:
        return Probe("refused", status)
    names = _read_names(bytes(request.received), KeyMask(model.api_key))
    return Probe("models" if names else "no_list", status, names)


def _headers(model: ModelSettings) -> dict[str, str]:
    return {"Accept": "application/json", "User-Agent": "Capability-Studio/1"} | build_vendor_headers(model)


def _find_addresses(url: str) -> list[Address]:
    """Of a variable's address all: the owner of the server has written it."""
    if not is_model_of_server():
        return allowed_addresses(url, NETWORKS)
    address = HttpAddress.parse(url)
    if address is None:
        raise AddressNotAllowed(url)
    return resolve(address.host, address.port, RESOLVE_SECONDS)


def _read_names(body: bytes, mask: KeyMask) -> tuple[str, ...]:
    """The ids of `{"data": [{"id": …}]}`, as both vendors send them."""
    try:
        document: Any = parse_json(body.decode())
        rows = document["data"]
        found = [row["id"] for row in rows[: 10 * NAMES_MAX]]
    except (ValueError, KeyError, TypeError):
        return ()
    fit = (one for one in found if isinstance(one, str) and _NAME.fullmatch(one) and mask.in_text(one) == one)
    return tuple(dict.fromkeys(fit))[:NAMES_MAX]
