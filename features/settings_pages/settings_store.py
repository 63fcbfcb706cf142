"""Settings that admins choose, what is checked of them, and the key of a model (docs/contract.md 3.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

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
EMAIL_SERVER: Final = "EMAIL_URL"
EMAIL_CREDENTIAL: Final = "EMAIL_CREDENTIAL"
EMAIL_NETWORKS: Final = "EMAIL_ALLOWED_NETWORKS"
ENCRYPTIONS: Final = ("starttls", "tls", "none")
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
        if "MODEL_URL" in values:
            secret = _Secret("Model", choice.url, "key", choice.key, needs_none=choice.needs_no_key)
            values[_CREDENTIAL] = _keep_secret(state, (_CREDENTIAL, "MODEL_URL", choice.url), secret, by)
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
    _require_address("url", choice.url, NETWORKS)


@dataclass(frozen=True, slots=True)
class _Secret:
    """What is typed of a secret: what it is for, where it is sent, and in which field it stands."""

    title: str
    url: str
    form_field: str
    text: str = field(repr=False)
    needs_none: bool = False


def _keep_secret(state: RegistryState, kept_as: tuple[str, str, Any], secret: _Secret, by: Actor) -> str | None:
    """The name of the credential that goes with an address; under the lock. `kept_as` is under which names credential
    and address are kept, and the new address."""
    before, (name_key, address_key, address) = state.chosen_settings or {}, kept_as
    kept, is_same = before.get(name_key), before.get(address_key) == address
    is_left_alone = not (secret.text or secret.needs_none)
    if kept and is_same and is_left_alone:
        return str(kept)
    if kept and address and is_left_alone:
        raise SettingRefused(
            secret.form_field, f"Enter the {secret.form_field} again: the kept one was for the former address"
        )
    if kept:
        why = f"The {secret.title.lower()} has another address or {secret.form_field}"
        credential_store.end_credential(name=str(kept), by=by, why=why)
    parsed = HttpAddress.parse(secret.url)
    if not secret.text or parsed is None:
        return None
    name = f"{secret.title}, {timezone.now():%Y-%m-%d %H:%M:%S.%f}"
    try:
        credential_store.create_credential(name=name, hosts=[parsed.host_and_port], secret=secret.text, by=by)
    except InvalidRequest as error:
        raise SettingRefused(secret.form_field, error.message) from None
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class MailChoice:
    """What is typed of a mail server: an empty `host` is none. `encryption` is none, starttls or tls."""

    host: str = ""
    port: int = 587
    encryption: str = "starttls"
    user: str = ""
    password: str = field(default="", repr=False)
    sender: str = ""


def choose_mail(*, choice: MailChoice, by: Actor) -> None:
    """Send every e-mail through this server. What a variable says is not changed.

    Raises `SettingRefused`, and `Forbidden` for who is not an admin.
    """
    _require_right(by)
    values: dict[str, Any] = {} if is_set_by_server("EMAIL_FROM") else {"EMAIL_FROM": choice.sender or None}
    server = {name: getattr(choice, name) for name in ("host", "port", "encryption", "user")} if choice.host else None
    if not is_set_by_server(EMAIL_SERVER):
        _check_mail(choice)
        values[EMAIL_SERVER] = server
    with write_transaction() as state:
        if EMAIL_SERVER in values:
            url, needs_none = secret_url(server) if server else "", not choice.user
            secret = _Secret("Mail server", url, "password", choice.password if choice.user else "", needs_none)
            values[EMAIL_CREDENTIAL] = _keep_secret(state, (EMAIL_CREDENTIAL, EMAIL_SERVER, server), secret, by)
            if choice.user and server and not values[EMAIL_CREDENTIAL]:
                raise SettingRefused("password", "Enter the password of this user")
        _store(state, values, "settings.mail", by, is_key_new=bool(choice.password))


def secret_url(server: Mapping[str, Any]) -> str:
    """What a mail server's password is bound to, in the form of credentials."""
    return f"https://{server['host']}:{server['port']}"


def _check_mail(choice: MailChoice) -> None:
    if not choice.host:
        return
    address = HttpAddress.parse(f"https://{choice.host}:{choice.port}")
    if address is None or address.host != choice.host.lower() or not 1 <= choice.port <= 65535:
        raise SettingRefused("host", "Enter a name such as smtp.example.com, and its port in the field beside it")
    if choice.encryption not in ENCRYPTIONS:
        raise SettingRefused("encryption", f"Choose one of {', '.join(ENCRYPTIONS)}")
    if choice.user and choice.encryption == "none":
        raise SettingRefused("encryption", "A password is sent encrypted only: choose STARTTLS or TLS")
    scheme = "http" if choice.encryption == "none" else "https"
    _require_address("host", f"{scheme}://{choice.host}:{choice.port}", EMAIL_NETWORKS)


def _require_address(field: str, url: str, networks: str) -> None:
    try:
        allowed_addresses(url, networks)
    except NameNotResolved:
        raise SettingRefused(field, "This host could not be found") from None
    except AddressNotAllowed:
        how = "with encryption" if networks == EMAIL_NETWORKS else "by HTTPS"
        words = f"Not a public address {how}. The person who runs this server can allow its network: see the docs"
        raise SettingRefused(field, words) from None


def _store(state: RegistryState, values: Mapping[str, Any], verb: str, by: Actor, *, is_key_new: bool = False) -> None:
    """Those that differ from what is stored, with a row of the audit log; nothing where none does."""
    before = state.chosen_settings or {}
    new = {name: value for name, value in values.items() if before.get(name) != value}
    if not new:
        return
    choose_settings(state, new)
    detail: dict[str, Any] = {
        "after": {name: value for name, value in new.items() if name not in (_CREDENTIAL, EMAIL_CREDENTIAL)}
    }
    audit.record(by=by, verb=verb, subject="settings", detail=detail | ({"key": "replaced"} if is_key_new else {}))


def has_secret(of: Literal["MODEL", "EMAIL"]) -> bool:
    """Whether a key or a password is kept for what a page names."""
    return bool(read_chosen().get(f"{of}_CREDENTIAL"))


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
