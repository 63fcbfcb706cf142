"""The table of settings that an operator can make, and how they are read from environment variables.

Standard library only: `run.py` reads the environment before anything is installed, `studio.settings` reads the same
values for Django. `read_environment` checks all variables before it fails, so that one start shows every problem.
A variable that is empty or blank counts as not set, because compose files pass on what is absent as empty.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from studio.config import parsers
from studio.config.email_url import MailServer, parse_email_address, parse_email_url
from studio.config.parsers import Database, LogFormat, Network, Rate, format_host, is_loopback
from studio.config.single_sign_on import parse_group_roles, parse_issuer, parse_label, parse_roles, parse_scopes

Value = TypeVar("Value")


class ConfigurationError(Exception):
    """One or more settings are missing or invalid; nothing was started.

    `problems` holds one sentence each: the variable, its value, what is expected, an example. Secrets are never shown.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable. What it does is said in docs/settings.md."""

    variable: str
    parse: Callable[[str], Any]
    default: Any


def _setting(
    variable: str, parse: Callable[[str], Value], default: Value | Callable[[StudioEnvironment], Value]
) -> Value:
    """A row of the table, of the type that `parse` makes. A default may follow the values of the rows above it."""
    return cast("Value", field(metadata={"setting": Setting(variable, parse, default)}))


def _own_hosts(above: StudioEnvironment) -> tuple[str, ...]:
    """This machine's own names. An address that stands for every interface is nobody's name."""
    own = () if above.host in {"0.0.0.0", "::"} else (format_host(above.host),)  # noqa: S104 (compared, not bound)
    return ("localhost", "127.0.0.1", "[::1]", *own)


_seconds = parsers.whole_number(0, 3600, "30", unit="whole seconds", zero="no limit")


@dataclass(frozen=True, slots=True)
class StudioEnvironment:
    """All settings, checked one by one and against each other: the one place where a setting is made.

    `secret_key` is None where one is to be generated and kept in `data_dir`; `database` is None for SQLite there;
    `mail_server` is None where mail is printed; `rate_limits` holds no entry for what is not limited; a timeout of 0
    means none. `public_url` is an origin without a slash at its end. `warnings` are sentences for the operator that
    stop nothing.
    """

    data_dir: Path = _setting("DATA_DIR", parsers.parse_directory, Path(".data"))
    static_dir: Path = _setting("STATIC_DIR", parsers.parse_directory, Path("static"))
    database: Database | None = _setting("DATABASE_URL", parsers.parse_database_url, None)
    redis_url: str | None = _setting("REDIS_URL", parsers.parse_redis_url, None)
    secret_key: str | None = _setting("SECRET_KEY", parsers.parse_secret_key, None)
    secret_key_fallbacks: tuple[str, ...] = _setting("SECRET_KEY_FALLBACKS", parsers.parse_secret_keys, ())
    signing_key_file: Path | None = _setting("SIGNING_KEY_FILE", parsers.parse_key_file, None)
    debug: bool = _setting("DEBUG", parsers.parse_boolean, default=False)
    host: str = _setting("HOST", parsers.parse_host, "127.0.0.1")
    port: int = _setting("PORT", parsers.whole_number(1, 65535, "PORT=8001"), 8000)
    allowed_hosts: tuple[str, ...] = _setting("ALLOWED_HOSTS", parsers.parse_allowed_hosts, _own_hosts)
    public_url: str | None = _setting("PUBLIC_URL", parsers.parse_origin, None)
    trusted_proxies: tuple[Network, ...] = _setting("TRUSTED_PROXIES", parsers.parse_networks, ())
    cors_allowed_origins: tuple[str, ...] = _setting("CORS_ALLOWED_ORIGINS", parsers.parse_origins, ())
    agent_api_public_read: bool = _setting(
        "AGENT_API_PUBLIC_READ", parsers.parse_boolean, lambda above: above.database is None and is_loopback(above.host)
    )
    examples: bool = _setting("EXAMPLES", parsers.parse_boolean, lambda above: above.database is None)
    webhook_allowed_networks: tuple[Network, ...] = _setting("WEBHOOK_ALLOWED_NETWORKS", parsers.parse_networks, ())
    import_allowed_networks: tuple[Network, ...] = _setting("IMPORT_ALLOWED_NETWORKS", parsers.parse_networks, ())
    mail_server: MailServer | None = _setting("EMAIL_URL", parse_email_url, None)
    mail_from: str = _setting("EMAIL_FROM", parse_email_address, "Capability Studio <studio@localhost>")
    keep_unmatched_days: int = _setting(
        "KEEP_UNMATCHED_DAYS", parsers.whole_number(0, 365, "30", unit="whole days", zero="none", shown=60), 0
    )
    rate_limits: Mapping[str, Rate] = _setting("RATE_LIMITS", parsers.parse_rate_limits, parsers.DEFAULT_RATE_LIMITS)
    statement_timeout_seconds: int = _setting("DATABASE_STATEMENT_TIMEOUT_SECONDS", _seconds, 30)
    lock_timeout_seconds: int = _setting("DATABASE_LOCK_TIMEOUT_SECONDS", _seconds, 10)
    log_format: LogFormat = _setting("LOG_FORMAT", parsers.parse_log_format, "text")
    web_threads: int = _setting("WEB_THREADS", parsers.whole_number(1, 64, "4", shown=60), 4)
    access_log: bool = _setting("ACCESS_LOG", parsers.parse_boolean, lambda above: above.log_format == "json")
    embedder: str = _setting("EMBEDDER", parsers.parse_embedder, "auto")
    embedder_model: str = _setting("EMBEDDER_MODEL", str, "text-embedding-3-small")
    embedder_api_key: str = _setting("EMBEDDER_API_KEY", str, "")
    embedding_dim: int = _setting("EMBEDDING_DIM", parsers.whole_number(1, 4096, "768", shown=60), 768)
    oidc_issuer: str | None = _setting("OIDC_ISSUER", parse_issuer, None)
    oidc_client_id: str = _setting("OIDC_CLIENT_ID", str, "")
    oidc_client_secret: str = _setting("OIDC_CLIENT_SECRET", str, "")
    oidc_name: str = _setting("OIDC_NAME", parse_label, "single sign-on")
    oidc_roles: Mapping[str, str] = _setting("OIDC_ROLES", parse_group_roles, MappingProxyType({}))
    oidc_groups_claim: str = _setting("OIDC_GROUPS_CLAIM", str, "groups")
    oidc_scopes: tuple[str, ...] = _setting("OIDC_SCOPES", parse_scopes, ("openid", "profile", "email"))
    second_factor_roles: tuple[str, ...] = _setting("SECOND_FACTOR_ROLES", parse_roles, ())
    required_scanners: tuple[str, ...] = _setting("REQUIRED_SCANNERS", parsers.parse_tool_names, ())
    session_idle_hours: int = _setting(
        "SESSION_IDLE_HOURS", parsers.whole_number(1, 720, "12", unit="whole hours", shown=60), 12
    )
    session_days: int = _setting("SESSION_DAYS", parsers.whole_number(1, 90, "14", unit="whole days", shown=60), 14)
    traces_url: str | None = _setting("OTEL_EXPORTER_OTLP_ENDPOINT", parsers.parse_collector_url, None)
    traces_own_url: str | None = _setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", parsers.parse_collector_url, None)
    warnings: tuple[str, ...] = ()


# By the attribute that holds the value, in the order of docs/settings.md.
SETTINGS: Mapping[str, Setting] = {
    row.name: row.metadata["setting"] for row in fields(StudioEnvironment) if "setting" in row.metadata
}
VARIABLES = tuple(setting.variable for setting in SETTINGS.values())


def read_environment(environ: Mapping[str, str], *, base_dir: Path) -> StudioEnvironment:
    """Read every setting from `environ`; `base_dir` is where `.data` is by default.

    Raises ConfigurationError with all problems at once.
    """
    given = {name: text.strip() for name, text in environ.items() if text.strip()}
    read = SimpleNamespace()
    problems = []
    for name, setting in SETTINGS.items():
        setattr(read, name, setting.default(read) if callable(setting.default) else setting.default)
        if setting.variable in given:
            try:
                setattr(read, name, setting.parse(given[setting.variable]))
            except ValueError as error:
                problems.append(f"{setting.variable} {error}")
    problems += _contradictions(given, read)
    if problems:
        raise ConfigurationError(*problems)
    # A directory that was given is absolute: it replaces what it is joined to.
    read.data_dir = base_dir / read.data_dir
    read.static_dir = read.data_dir / read.static_dir
    public_host = (format_host(urlsplit(read.public_url).hostname or ""),) if read.public_url else ()
    read.allowed_hosts = tuple(dict.fromkeys((*read.allowed_hosts, *public_host)))
    return StudioEnvironment(**vars(read), warnings=tuple(_warnings(environ, read.secret_key)))


def _contradictions(given: Mapping[str, str], read: SimpleNamespace) -> Iterator[str]:
    # With DATABASE_URL several hosts may serve: a key made on each, or a guessed host name, would be wrong.
    if "DATABASE_URL" in given and "SECRET_KEY" not in given:
        yield (
            "SECRET_KEY is missing: with DATABASE_URL set it is required, the same on every host. "
            f"Make one with: {parsers.GENERATE_KEY}"
        )
    if "DATABASE_URL" in given and "ALLOWED_HOSTS" not in given:
        yield (
            "ALLOWED_HOSTS is missing: with DATABASE_URL set it is required. "
            "Name the hosts that clients use, for example ALLOWED_HOSTS=studio.example.com"
        )
    if read.oidc_issuer and not read.oidc_client_id:
        yield (
            "OIDC_CLIENT_ID is missing: with OIDC_ISSUER set it is required. "
            "Register this Studio with the provider, for example OIDC_CLIENT_ID=capability-studio"
        )
    if read.oidc_issuer and not read.oidc_roles:
        yield (
            "OIDC_ROLES is missing: with OIDC_ISSUER set it is required, or nobody could sign in. "
            "Name the provider's groups, for example OIDC_ROLES=studio-admins=admin,studio-authors=author"
        )
    protocol = given.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or given.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    if (read.traces_url or read.traces_own_url) and protocol not in (None, "http/protobuf"):
        yield (
            f"OTEL_EXPORTER_OTLP_PROTOCOL is '{protocol}': traces are sent as http/protobuf. "
            "Remove it and name the collector's HTTP port, which is usually 4318"
        )
    if read.debug and not is_loopback(read.host):
        yield (
            f"DEBUG is on while HOST is '{read.host}': error pages with settings and source would be open to the "
            "network. Use DEBUG=off, or HOST=127.0.0.1"
        )


# Names that other programs set and that look like ours.
_NOT_OURS = frozenset({"HOSTNAME", "HOSTTYPE"})
_OPENTELEMETRY = "OTEL_"


def _warnings(environ: Mapping[str, str], secret_key: str | None) -> list[str]:
    warnings = []
    if secret_key is not None and len(secret_key) < 32:
        warnings.append(
            f"SECRET_KEY has {len(secret_key)} characters; 32 or more are safer. Make one with: {parsers.GENERATE_KEY}"
        )
    for name in sorted(set(environ) - set(VARIABLES) - _NOT_OURS):
        close = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.86)
        if close and not name.startswith(_OPENTELEMETRY):
            warnings.append(f"{name} is set, which means nothing here; did you mean {close[0]}?")
    return warnings
