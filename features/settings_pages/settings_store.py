"""Settings that admins choose, what is checked of them, and the key of a model (docs/contract.md 3.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from capability_client.evaluation.model_port import KINDS
from capability_kit.http_address import HttpAddress
from capability_rules.errors import InvalidRequest
from features.credentials import credential_store
from features.evaluations.model_settings import NETWORKS
from registry.access.teams import require_admin
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.common.net.guarded_client import allowed_addresses
from registry.common.net.ip_policy import AddressNotAllowed, NameNotResolved
from registry.core import audit
from registry.core.chosen_settings import (
    PUBLIC_READ,
    choose_settings,
    get_setting,
    is_public_read,
    is_set_by_server,
    read_chosen,
)
from registry.core.transactions import write_transaction
from registry.models import RegistryState
from registry.usage.outcome_reports import KEEP

URL_LENGTH_MAX: Final = 500
NAMES_MAX: Final = 20
NAME_LENGTH_MAX: Final = 80
KEEP_DAYS_MAX: Final = 365
TOKENS_MAX: Final = 10_000_000_000
PRICE_MAX: Final = 999_999.0
# The name of the credential that is the key of the model at MODEL_URL.
_CREDENTIAL: Final = "MODEL_CREDENTIAL"
_OF_SERVER: Final = ("MODEL_URL", "MODEL_KIND", "MODEL_NAMES")


class SettingRefused(InvalidRequest):
    """One value cannot be taken; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """What is typed of a model. An empty `url` is none; `needs_no_key` takes the place of a key for a new address."""

    url: str = ""
    kind: str = "openai"
    names: Sequence[str] = ()
    price: tuple[float, float] | None = None
    tokens_a_day: int = 0
    key: str = field(default="", repr=False)
    needs_no_key: bool = False


def choose_model(*, choice: ModelChoice, by: Actor) -> None:
    """Have evaluations and chats ask this model. What a variable says is not changed.

    Raises `SettingRefused`, and `Forbidden` for who is not an admin.
    """
    _require_right(by)
    values: dict[str, Any] = {
        "MODEL_PRICE": list(choice.price) if choice.price else None,
        "MODEL_TOKENS_A_DAY": choice.tokens_a_day or None,
    }
    if not is_set_by_server("MODEL_URL"):
        _check_model(choice)
        names = list(dict.fromkeys(choice.names))
        of_server = (choice.url, choice.kind, names) if choice.url else (None, None, None)
        values |= dict(zip(_OF_SERVER, of_server, strict=True))
    with write_transaction() as state:
        before = state.chosen_settings or {}
        if "MODEL_URL" in values:
            values[_CREDENTIAL] = _keep_key(choice, before, by)
        _store(state, values, "settings.model", by, is_key_new=bool(choice.key))


def _require_right(by: Actor) -> None:
    if by.kind == "agent_key":
        raise Forbidden("A key cannot change settings")
    require_admin(by, "change settings")


def _check_model(choice: ModelChoice) -> None:
    if not choice.url:
        return
    if choice.kind not in KINDS:
        raise SettingRefused("kind", f"Choose one of {', '.join(KINDS)}")
    if len(choice.names) > NAMES_MAX:
        raise SettingRefused("names", f"At most {NAMES_MAX} names")
    if not all(1 <= len(name) <= NAME_LENGTH_MAX and name.isprintable() for name in choice.names):
        raise SettingRefused("names", f"A name has 1 to {NAME_LENGTH_MAX} printable characters")
    address = HttpAddress.parse(choice.url)
    is_plain = address is not None and not (address.has_user or address.query or address.fragment)
    if not is_plain or len(choice.url) > URL_LENGTH_MAX:
        raise SettingRefused("url", "Enter an address such as https://api.example.com/v1, without a name and a query")
    if choice.key and address is not None and address.scheme != "https":
        raise SettingRefused("key", "A key is sent by HTTPS only: enter an address with https://")
    try:
        allowed_addresses(choice.url, NETWORKS)
    except NameNotResolved:
        raise SettingRefused("url", "This host could not be found") from None
    except AddressNotAllowed:
        words = "Not a public address by HTTPS. The person who runs this server can allow its network: see the docs"
        raise SettingRefused("url", words) from None


def _keep_key(choice: ModelChoice, before: Mapping[str, Any], by: Actor) -> str | None:
    """The name of the credential that goes with the address; under the lock."""
    kept, is_same = before.get(_CREDENTIAL), before.get("MODEL_URL") == choice.url
    if kept and is_same and not (choice.key or choice.needs_no_key):
        return str(kept)
    if kept and choice.url and not (choice.key or choice.needs_no_key):
        raise SettingRefused("key", "Enter the key again: the kept one was for the former address")
    if kept:
        credential_store.end_credential(name=str(kept), by=by, why="The model has another address or key")
    address = HttpAddress.parse(choice.url)
    if not choice.key or address is None:
        return None
    name = f"Model, {timezone.now():%Y-%m-%d %H:%M:%S.%f}"
    try:
        credential_store.create_credential(name=name, hosts=[address.host_and_port], secret=choice.key, by=by)
    except InvalidRequest as error:
        raise SettingRefused("key", error.message) from None
    return name


def _store(state: RegistryState, values: Mapping[str, Any], verb: str, by: Actor, *, is_key_new: bool = False) -> None:
    """Those that differ from what is stored, with a row of the audit log; nothing where none does."""
    before = state.chosen_settings or {}
    new = {name: value for name, value in values.items() if before.get(name) != value}
    if not new:
        return
    choose_settings(state, new)
    detail: dict[str, Any] = {"after": {name: value for name, value in new.items() if name != _CREDENTIAL}}
    audit.record(by=by, verb=verb, subject="settings", detail=detail | ({"key": "replaced"} if is_key_new else {}))


def has_model_key() -> bool:
    """Whether a key is kept for the model of the page."""
    return bool(read_chosen().get(_CREDENTIAL))


def open_model_key(url: str) -> str:
    """The key for requests to `url`, empty where it needs none; for `Feature.model_key`.

    Raises `NotFound`, and `SourceMisconfigured` where it is ended, not for this host, or cannot be read.
    """
    name = read_chosen().get(_CREDENTIAL)
    if not name:
        return ""
    return credential_store.open_secret(credential_store.get_credential(name), url, used_for="the model")[1]


def choose_data(
    *,
    keep_days: int | None = None,
    keeps_conversations: bool | None = None,
    public_read: bool | None = None,
    by: Actor,
) -> None:
    """For how many days messages that found nothing are kept (0: none are), whether conversations of failed uses are,
    and whether agents read without a key; None leaves one as it is. Raises `SettingRefused` and `Forbidden`."""
    _require_right(by)
    values: dict[str, Any] = {}
    if keep_days is not None and not is_set_by_server("KEEP_UNMATCHED_DAYS"):
        if not 0 <= keep_days <= KEEP_DAYS_MAX:
            raise SettingRefused("keep_days", f"Enter 1 to {KEEP_DAYS_MAX} days")
        values |= {"KEEP_UNMATCHED_DAYS": keep_days} if keep_days != get_setting("KEEP_UNMATCHED_DAYS") else {}
    if keeps_conversations is not None and not is_set_by_server(KEEP) and keeps_conversations != get_setting(KEEP):
        values[KEEP] = keeps_conversations
    if public_read is not None and public_read != is_public_read():
        if public_read and not may_open_reads():
            raise SettingRefused("public_read", "The server keeps reads without a key off")
        values[PUBLIC_READ] = public_read
    with write_transaction() as state:
        _store(state, values, "settings.data", by)


def may_open_reads() -> bool:
    """Whether the server leaves it to a page to let agents read without a key."""
    return bool(settings.AGENT_API_PUBLIC_READ) or not is_set_by_server(PUBLIC_READ)
