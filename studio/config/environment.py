"""Every setting that an operator can make, read from environment variables.

Standard library only: `run.py` reads the environment before anything is installed, `studio.settings` reads the same
values for Django. `read_environment` checks all variables before it fails, so that one start shows every problem.
A variable that is empty or blank counts as not set, because compose files pass on what is absent as empty.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from studio.config.email_url import MailServer, parse_email_address, parse_email_url
from studio.config.parsers import (
    DEFAULT_RATE_LIMITS,
    GENERATE_KEY,
    Database,
    LogFormat,
    Network,
    Rate,
    format_host,
    is_loopback,
    parse_allowed_hosts,
    parse_boolean,
    parse_database_url,
    parse_days,
    parse_dimension,
    parse_directory,
    parse_embedder,
    parse_host,
    parse_log_format,
    parse_networks,
    parse_origin,
    parse_origins,
    parse_port,
    parse_rate_limits,
    parse_redis_url,
    parse_secret_key,
    parse_threads,
    parse_timeout_seconds,
)

VARIABLES = (
    "HOST",
    "PORT",
    "DATA_DIR",
    "STATIC_DIR",
    "DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "DEBUG",
    "ALLOWED_HOSTS",
    "PUBLIC_URL",
    "TRUSTED_PROXIES",
    "CORS_ALLOWED_ORIGINS",
    "EXAMPLES",
    "AGENT_API_PUBLIC_READ",
    "RATE_LIMITS",
    "WEBHOOK_ALLOWED_NETWORKS",
    "IMPORT_ALLOWED_NETWORKS",
    "EMAIL_URL",
    "EMAIL_FROM",
    "KEEP_UNMATCHED_DAYS",
    "LOG_FORMAT",
    "ACCESS_LOG",
    "DATABASE_STATEMENT_TIMEOUT_SECONDS",
    "DATABASE_LOCK_TIMEOUT_SECONDS",
    "EMBEDDER",
    "EMBEDDER_MODEL",
    "EMBEDDER_API_KEY",
    "EMBEDDING_DIM",
    "WEB_THREADS",
)
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
Value = TypeVar("Value")


class ConfigurationError(Exception):
    """One or more settings are missing or invalid; nothing was started.

    `problems` holds one sentence each: the variable, its value, what is expected, an example. Secrets are never shown.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class StudioEnvironment:
    """All settings, checked one by one and against each other.

    `secret_key` is None where one is to be generated and kept in `data_dir`; `database` is None for SQLite there;
    `mail_server` is None where mail is printed; `rate_limits` holds no entry for what is not limited; a timeout of 0
    means none. `public_url` is an origin without a slash at its end. `warnings` are sentences for the operator that
    stop nothing.
    """

    host: str
    port: int
    data_dir: Path
    static_dir: Path
    database: Database | None
    redis_url: str | None
    secret_key: str | None
    debug: bool
    allowed_hosts: tuple[str, ...]
    public_url: str | None
    trusted_proxies: tuple[Network, ...]
    cors_allowed_origins: tuple[str, ...]
    examples: bool
    agent_api_public_read: bool
    rate_limits: Mapping[str, Rate]
    webhook_allowed_networks: tuple[Network, ...]
    import_allowed_networks: tuple[Network, ...]
    mail_server: MailServer | None
    mail_from: str
    keep_unmatched_days: int
    log_format: LogFormat
    access_log: bool
    statement_timeout_seconds: int
    lock_timeout_seconds: int
    embedder: str
    embedder_model: str
    embedder_api_key: str
    embedding_dim: int
    web_threads: int
    warnings: tuple[str, ...]


def read_environment(environ: Mapping[str, str], *, base_dir: Path) -> StudioEnvironment:
    """Read every setting from `environ`; `base_dir` is where `.data` is by default.

    Raises ConfigurationError with all problems at once.
    """
    reader = _VariableReader(environ)
    host = reader.read("HOST", parse_host, "127.0.0.1")
    database = reader.read("DATABASE_URL", parse_database_url, None)
    secret_key = reader.read("SECRET_KEY", parse_secret_key, None)
    public_url = reader.read("PUBLIC_URL", parse_origin, None)
    allowed_hosts = reader.read("ALLOWED_HOSTS", parse_allowed_hosts, None)
    data_dir = reader.read("DATA_DIR", parse_directory, base_dir / ".data")
    debug = reader.read("DEBUG", parse_boolean, False)  # noqa: FBT003 (the default of a value, not a switch)
    reader.check_production(is_postgresql=reader.is_set("DATABASE_URL"))
    reader.check_debug(debug=debug, host=host)
    embedded = not reader.is_set("DATABASE_URL")
    log_format: LogFormat = reader.read("LOG_FORMAT", parse_log_format, "text")
    environment = StudioEnvironment(
        host=host,
        port=reader.read("PORT", parse_port, 8000),
        data_dir=data_dir,
        static_dir=reader.read("STATIC_DIR", parse_directory, data_dir / "static"),
        database=database,
        redis_url=reader.read("REDIS_URL", parse_redis_url, None),
        secret_key=secret_key,
        debug=debug,
        allowed_hosts=_all_hosts(allowed_hosts, host, public_url),
        public_url=public_url,
        trusted_proxies=reader.read("TRUSTED_PROXIES", parse_networks, ()),
        cors_allowed_origins=reader.read("CORS_ALLOWED_ORIGINS", parse_origins, ()),
        examples=reader.read("EXAMPLES", parse_boolean, embedded),
        agent_api_public_read=reader.read("AGENT_API_PUBLIC_READ", parse_boolean, embedded and is_loopback(host)),
        rate_limits=reader.read("RATE_LIMITS", parse_rate_limits, DEFAULT_RATE_LIMITS),
        webhook_allowed_networks=reader.read("WEBHOOK_ALLOWED_NETWORKS", parse_networks, ()),
        import_allowed_networks=reader.read("IMPORT_ALLOWED_NETWORKS", parse_networks, ()),
        mail_server=reader.read("EMAIL_URL", parse_email_url, None),
        mail_from=reader.read("EMAIL_FROM", parse_email_address, "Capability Studio <studio@localhost>"),
        keep_unmatched_days=reader.read("KEEP_UNMATCHED_DAYS", parse_days, 0),
        log_format=log_format,
        access_log=reader.read("ACCESS_LOG", parse_boolean, log_format == "json"),
        statement_timeout_seconds=reader.read("DATABASE_STATEMENT_TIMEOUT_SECONDS", parse_timeout_seconds, 30),
        lock_timeout_seconds=reader.read("DATABASE_LOCK_TIMEOUT_SECONDS", parse_timeout_seconds, 10),
        embedder=reader.read("EMBEDDER", parse_embedder, "auto"),
        embedder_model=reader.read("EMBEDDER_MODEL", str, "text-embedding-3-small"),
        embedder_api_key=reader.read("EMBEDDER_API_KEY", str, ""),
        embedding_dim=reader.read("EMBEDDING_DIM", parse_dimension, 768),
        web_threads=reader.read("WEB_THREADS", parse_threads, 4),
        warnings=tuple(_warnings(environ, secret_key)),
    )
    if reader.problems:
        raise ConfigurationError(*reader.problems)
    return environment


class _VariableReader:
    """Reads variables one by one and collects the invalid ones."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.problems: list[str] = []

    def is_set(self, variable: str) -> bool:
        return bool(self._environ.get(variable, "").strip())

    def read(self, variable: str, parse: Callable[[str], Value], default: Value) -> Value:
        """The parsed value; the default if it is not set or invalid (then the problem is recorded)."""
        if not self.is_set(variable):
            return default
        try:
            return parse(self._environ[variable].strip())
        except ValueError as error:
            self.problems.append(f"{variable} {error}")
            return default

    def check_production(self, *, is_postgresql: bool) -> None:
        """With DATABASE_URL several hosts may serve: a key made on each, or a guessed host name, would be wrong."""
        if not is_postgresql:
            return
        if not self.is_set("SECRET_KEY"):
            self.problems.append(
                "SECRET_KEY is missing: with DATABASE_URL set it is required, the same on every host. "
                f"Make one with: {GENERATE_KEY}"
            )
        if not self.is_set("ALLOWED_HOSTS"):
            self.problems.append(
                "ALLOWED_HOSTS is missing: with DATABASE_URL set it is required. "
                "Name the hosts that clients use, for example ALLOWED_HOSTS=studio.example.com"
            )

    def check_debug(self, *, debug: bool, host: str) -> None:
        if debug and not is_loopback(host):
            self.problems.append(
                f"DEBUG is on while HOST is '{host}': error pages with settings and source would be open to the "
                "network. Use DEBUG=off, or HOST=127.0.0.1"
            )


def _all_hosts(given: tuple[str, ...] | None, host: str, public_url: str | None) -> tuple[str, ...]:
    """What the Host header may say: what was given, or this machine's own names; always the public address's host."""
    hosts = list(LOOPBACK_HOSTS if given is None else given)
    # An address that stands for every interface is nobody's name.
    if given is None and host not in {"0.0.0.0", "::"}:  # noqa: S104 (compared, not bound)
        hosts.append(format_host(host))
    if public_url is not None:
        hosts.append(format_host(urlsplit(public_url).hostname or ""))
    return tuple(dict.fromkeys(hosts))


# Names that other programs set and that look like ours.
_NOT_OURS = frozenset({"HOSTNAME", "HOSTTYPE"})


def _warnings(environ: Mapping[str, str], secret_key: str | None) -> list[str]:
    warnings = []
    if secret_key is not None and len(secret_key) < 32:
        warnings.append(
            f"SECRET_KEY has {len(secret_key)} characters; 32 or more are safer. Make one with: {GENERATE_KEY}"
        )
    for name in sorted(set(environ) - set(VARIABLES) - _NOT_OURS):
        close = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.86)
        if close:
            warnings.append(f"{name} is set, which means nothing here; did you mean {close[0]}?")
    return warnings
