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

from capability_kit.http_address import is_loopback
from registry.common.installation import DATA_DIR_NAME, list_leaf_names
from studio.config.email_url import MailServer, parse_email_address, parse_email_url
from studio.config.parsers import (
    DEFAULT_RATE_LIMITS,
    GENERATE_KEY,
    Database,
    LogFormat,
    ModelKind,
    Network,
    Rate,
    format_host,
    parse_allowed_hosts,
    parse_boolean,
    parse_collector_url,
    parse_database_url,
    parse_directory,
    parse_domains,
    parse_embedder,
    parse_features,
    parse_file,
    parse_host,
    parse_key_file,
    parse_log_format,
    parse_model_kind,
    parse_model_url,
    parse_networks,
    parse_origin,
    parse_origins,
    parse_price,
    parse_rate_limits,
    parse_redis_url,
    parse_secret_file,
    parse_secret_key,
    parse_secret_keys,
    parse_tool_names,
    whole_number,
)
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
    """One variable, and its row in docs/settings.md; `default_text` replaces a default that is not its own text.

    A secret may stand in a file, which the variable of the same name with `_FILE` names.
    """

    variable: str
    parse: Callable[[str], Any]
    default: Any
    default_text: str
    purpose: str
    is_secret: bool = False


def _setting(
    variable: str,
    parse: Callable[[str], Value],
    default: Value | Callable[[StudioEnvironment], Value],
    *,
    default_text: str = "",
    purpose: str,
    is_secret: bool = False,
) -> Value:
    """A row of the table, of the type that `parse` makes. A default may follow the values of the rows above it."""
    setting = Setting(variable, parse, default, default_text, purpose, is_secret)
    return cast("Value", field(metadata={"setting": setting}))


def _own_hosts(above: StudioEnvironment) -> tuple[str, ...]:
    """This machine's own names. An address that stands for every interface is nobody's name."""
    own = () if above.host in {"0.0.0.0", "::"} else (format_host(above.host),)  # noqa: S104 (compared, not bound)
    return ("localhost", "127.0.0.1", "[::1]", *own)


_seconds = whole_number(0, 3600, "30", unit="whole seconds", zero="no limit")


# A row of few lines reads better than one cell a line.
# fmt: off
@dataclass(frozen=True, slots=True)
class StudioEnvironment:
    """All settings, checked one by one and against each other: the one place where a setting is made.

    `secret_key` is None where one is to be generated and kept in `data_dir`; `database` is None for SQLite there;
    `mail_server` is None where mail is printed; `rate_limits` holds no entry for what is not limited; a timeout of 0
    means none. `public_url` is an origin without a slash at its end. `warnings` are sentences for the operator that
    stop nothing, and `given` the variables that are set.
    """

    data_dir: Path = _setting("DATA_DIR", parse_directory, Path(DATA_DIR_NAME),
        default_text="`.data` in the checkout, or `capability-studio-data` where `capability-studio` is started",
        purpose="all files of the embedded default: database, secret key, static files")
    static_dir: Path = _setting("STATIC_DIR", parse_directory, Path("static"), default_text="`static` in `DATA_DIR`",
        purpose="the collected static files, and beside them in `models` what a sentence model is read from; may be "
                "read-only where `manage.py prepare_site --static` was run before, as in an image's build")
    database: Database | None = _setting("DATABASE_URL", parse_database_url, None, is_secret=True,
        purpose="PostgreSQL, `postgresql://user:password@host/name?sslmode=require`; without it SQLite in `DATA_DIR`")
    redis_url: str | None = _setting("REDIS_URL", parse_redis_url, None, is_secret=True,
        purpose="Celery's broker, and where all processes count rate limits together; without it the embedded worker "
                "polls the database ([jobs.md](jobs.md)) and each process counts by itself")
    secret_key: str | None = _setting("SECRET_KEY", parse_secret_key, None,
        default_text="generated once, stored in `DATA_DIR`", is_secret=True,
        purpose="signs sessions, encrypts stored secrets; required with `DATABASE_URL`")
    secret_key_fallbacks: tuple[str, ...] = _setting("SECRET_KEY_FALLBACKS", parse_secret_keys, (), is_secret=True,
        purpose="comma-separated former values of `SECRET_KEY`: what they signed is still valid, so that nobody "
                "is signed out by a new key")
    signing_key_file: Path | None = _setting("SIGNING_KEY_FILE", parse_key_file, None,
        default_text="`signing_key.pem` in `DATA_DIR`, generated once; with `DATABASE_URL` derived from `SECRET_KEY`",
        purpose="PEM file: an Ed25519 private key, which signs revisions and checkpoints, and after it the public "
                "keys of before ([signatures.md](security/signatures.md#keys))")
    checkpoint_file: Path | None = _setting("CHECKPOINT_FILE", parse_file, None,
        default_text="`last_checkpoint.json` in `DATA_DIR`",
        purpose="where the last checkpoint is kept outside of the database; on a volume that outlives the processes "
                "([signatures.md](security/signatures.md#checkpoints))")
    debug: bool = _setting("DEBUG", parse_boolean, default=False,
        purpose="developers only; on with a `HOST` that is not loopback stops the start")
    host: str = _setting("HOST", parse_host, "127.0.0.1", purpose="address to listen on")
    port: int = _setting("PORT", whole_number(1, 65535, "PORT=8001"), 8000, purpose="port to listen on")
    allowed_hosts: tuple[str, ...] = _setting("ALLOWED_HOSTS", parse_allowed_hosts, _own_hosts,
        default_text="loopback, `HOST`, the host of `PUBLIC_URL`",
        purpose="comma-separated host names; required with `DATABASE_URL`")
    public_url: str | None = _setting("PUBLIC_URL", parse_origin, None,
        purpose="the origin that users see, such as `https://studio.example.com`: allowed host, trusted origin, "
                "secure cookies, absolute links")
    trusted_proxies: tuple[Network, ...] = _setting("TRUSTED_PROXIES", parse_networks, (),
        purpose="addresses or networks whose `X-Forwarded-*` headers count")
    cors_allowed_origins: tuple[str, ...] = _setting("CORS_ALLOWED_ORIGINS", parse_origins, (),
        purpose="origins whose pages may call the agent API")
    agent_api_public_read: bool = _setting("AGENT_API_PUBLIC_READ", parse_boolean,
        lambda above: above.database is None and is_loopback(above.host),
        default_text="on only where `HOST` is loopback and no `DATABASE_URL` is set", purpose="reads without a key")
    oauth_registration: bool = _setting("OAUTH_REGISTRATION", parse_boolean, default=True, default_text="on",
        purpose="clients without a metadata document may register, so that assistants come in "
                "([connect-assistants.md](connect-assistants.md))")
    oauth_issuer: str | None = _setting("OAUTH_ISSUER", parse_issuer, None,
        purpose="the issuer URL of another authorization server, whose access tokens `/mcp` takes in the place of this "
                "one's ([connect-assistants.md](connect-assistants.md#another-authorization-server))")
    oauth_audience: str = _setting("OAUTH_AUDIENCE", str, "", default_text="`PUBLIC_URL` with `/mcp`",
        purpose="what its tokens are for (`aud`)")
    oauth_domains: tuple[str, ...] = _setting("OAUTH_DOMAINS", parse_domains, (),
        purpose="comma-separated domains of e-mail, such as `example.com`: whose members its tokens are matched to, "
                "once, by a verified address; required with `OAUTH_ISSUER`")
    examples: bool = _setting("EXAMPLES", parse_boolean, lambda above: above.database is None,
        default_text="on without `DATABASE_URL`",
        purpose="publish the examples into an empty registry at the first start")
    webhook_allowed_networks: tuple[Network, ...] = _setting("WEBHOOK_ALLOWED_NETWORKS", parse_networks, (),
        purpose="addresses or networks that webhooks may reach beside public ones, by plain `http` too "
                "([webhooks.md](webhooks.md))")
    import_allowed_networks: tuple[Network, ...] = _setting("IMPORT_ALLOWED_NETWORKS", parse_networks, (),
        purpose="addresses or networks that `bundle import`, followed sources and sources of tools may fetch from "
                "beside public ones; what is there by plain http too")
    mail_server: MailServer | None = _setting("EMAIL_URL", parse_email_url, None, is_secret=True,
        default_text="`console`",
        purpose="the server that sends e-mails to members, such as "
                "`smtp+starttls://user:password@mail.example.com:587`; also `smtps://` and `smtp://`; `console`: "
                "printed by the worker ([reviews.md](reviews.md#e-mail-notifications))")
    mail_from: str = _setting("EMAIL_FROM", parse_email_address, "Capability Studio <studio@localhost>",
        purpose="the sender of e-mails")
    keep_unmatched_days: int = _setting("KEEP_UNMATCHED_DAYS",
        whole_number(0, 365, "30", unit="whole days", zero="none", shown=60), 0,
        purpose="the number of days (at most 365) that messages that `capability_match` could not match are stored "
                "for Unmet requests, cut to 200 characters and without addresses, long numbers and keys; `0` "
                "stores none and deletes stored ones ([operate.md](operate.md#data-retention-of-unmet-requests))")
    keep_conversations: bool = _setting("KEEP_CONVERSATIONS", parse_boolean, default=False,
        purpose="whether conversations that hosts send with a failed use are kept for 30 days, for who may edit the "
                "capability ([feedback.md](feedback.md#why-a-use-failed))")
    rate_limits: Mapping[str, Rate] = _setting("RATE_LIMITS", parse_rate_limits, DEFAULT_RATE_LIMITS,
        default_text="`match=6000/min,write=600/min,guess=20/min,uncached=600/min`",
        purpose="`off`, or pairs like these; of all processes together with `REDIS_URL`, else of each "
                "([operate.md](operate.md#limits))")
    statement_timeout_seconds: int = _setting("DATABASE_STATEMENT_TIMEOUT_SECONDS", _seconds, 30,
        purpose="PostgreSQL ends a statement of a request after so long; `0`: never")
    lock_timeout_seconds: int = _setting("DATABASE_LOCK_TIMEOUT_SECONDS", _seconds, 20,
        purpose="PostgreSQL ends a request's wait for another's lock after so long; `0`: never")
    log_format: LogFormat = _setting("LOG_FORMAT", parse_log_format, "text",
        purpose="`json`: one object per line on stderr ([operate.md](operate.md))")
    web_threads: int = _setting("WEB_THREADS", whole_number(1, 64, "8", shown=60), 8,
        purpose="threads of each web process for everything that its event loop does not handle; from 1 to 64")
    check_processes: int = _setting("CHECK_PROCESSES", whole_number(1, 16, "2", shown=60), 2,
        purpose="processes in which a web process checks bundles, each of some 65 MB; from 1 to 16 "
                "([operate.md](operate.md#processes-that-check-bundles))")
    connections_per_address: int = _setting("CONNECTIONS_PER_ADDRESS",
        whole_number(0, 65536, "4096", zero="no limit"), 4096,
        purpose="open connections of one IPv4 address, or of one IPv6 /64, to a gateway; the next ones get 429. Those "
                "of `TRUSTED_PROXIES` are not counted; `0`: no limit ([operate.md](operate.md#limits))")
    access_log: bool = _setting("ACCESS_LOG", parse_boolean, lambda above: above.log_format == "json",
        default_text="on with `LOG_FORMAT=json`",
        purpose="a line for each request that Django answers; warm lists and loads leave none")
    features: tuple[str, ...] = _setting("FEATURES", parse_features, list_leaf_names(), default_text="`all`",
        purpose="the features that are installed: `all`, `none`, or their names, comma separated "
                "([architecture.md](architecture.md#features)); a registry that uses one does not start without it")
    embedder: str = _setting("EMBEDDER", parse_embedder, "auto",
        purpose="sentence vectors for matching and search: `multilingual` (two models that come as packages: one for "
                "English, one for sixteen languages), `minilm` (the English one alone), `none`, or the URL of an "
                "endpoint in OpenAI's form; `auto` is the first of these that is installed "
                "([matching.md](matching.md))")
    embedder_model: str = _setting("EMBEDDER_MODEL", str, "text-embedding-3-small", purpose="the endpoint's model")
    embedder_api_key: str = _setting("EMBEDDER_API_KEY", str, "", is_secret=True, purpose="the endpoint's key")
    embedding_dim: int = _setting("EMBEDDING_DIM", whole_number(1, 4096, "768", shown=60), 768,
        purpose="how many numbers a vector of the endpoint has; one of another length is refused")
    model_url: str | None = _setting("MODEL_URL", parse_model_url, None,
        purpose="a model for evaluations, such as `http://127.0.0.1:11434/v1`; used as it is written "
                "([evaluations.md](evaluations.md))")
    model_kind: ModelKind = _setting("MODEL_KIND", parse_model_kind, "openai",
        purpose="the form of its interface: `openai` (chat completions) or `anthropic` (messages)")
    model_names: tuple[str, ...] = _setting("MODEL_NAMES", parse_tool_names, (),
        purpose="the names of its models, comma separated; required with `MODEL_URL`")
    model_api_key: str = _setting("MODEL_API_KEY", str, "", is_secret=True,
        purpose="its key; never stored, shown or logged")
    model_price: tuple[float, float] | None = _setting("MODEL_PRICE", parse_price, None,
        purpose="the price of a million tokens that it reads and of a million that it writes, such as `0.15/0.60`")
    model_tokens_a_day: int = _setting("MODEL_TOKENS_A_DAY",
        whole_number(0, 10_000_000_000, "2000000", unit="whole tokens", zero="no limit"), 0,
        purpose="evaluations and chats of one member on one day (UTC) use at most so many tokens; `0`: no limit")
    model_allowed_networks: tuple[Network, ...] = _setting("MODEL_ALLOWED_NETWORKS", parse_networks, (),
        purpose="addresses or networks that a model whose address an admin has set on a page may be at beside public "
                "ones, by plain `http` too; `MODEL_URL` is used as it is written ([evaluations.md](evaluations.md))")
    email_allowed_networks: tuple[Network, ...] = _setting("EMAIL_ALLOWED_NETWORKS", parse_networks, (),
        purpose="addresses or networks that a mail server that an admin has set on a page may be at beside public "
                "ones, there without encryption too; `EMAIL_URL` is used as it is written")
    oidc_issuer: str | None = _setting("OIDC_ISSUER", parse_issuer, None,
        purpose="the identity provider's issuer URL: a second way to sign in, beside local accounts "
                "([sign-in.md](sign-in.md#openid-connect))")
    oidc_client_id: str = _setting("OIDC_CLIENT_ID", str, "",
        purpose="what the provider calls this Studio; required with `OIDC_ISSUER`")
    oidc_client_secret: str = _setting("OIDC_CLIENT_SECRET", str, "", is_secret=True,
        purpose="the client's secret; none for a public client, which PKCE protects")
    oidc_name: str = _setting("OIDC_NAME", parse_label, "single sign-on",
        purpose="the provider's name on the button of the sign-in page")
    oidc_roles: Mapping[str, str] = _setting("OIDC_ROLES", parse_group_roles, MappingProxyType({}),
        default_text="none",
        purpose="pairs such as `studio-admins=admin,studio-authors=author`: the role of each of the provider's groups, "
                "read at each sign-in; required with `OIDC_ISSUER`")
    oidc_groups_claim: str = _setting("OIDC_GROUPS_CLAIM", str, "groups",
        purpose="the claim that has the groups; dots lead into objects, as `realm_access.roles`")
    oidc_scopes: tuple[str, ...] = _setting("OIDC_SCOPES", parse_scopes, ("openid", "profile", "email"),
        default_text="`openid profile email`",
        purpose="the scopes to ask for; some providers send groups only with one named `groups`")
    second_factor_roles: tuple[str, ...] = _setting("SECOND_FACTOR_ROLES", parse_roles, (),
        purpose="comma-separated roles that must set up a second factor before anything else, unless the identity "
                "provider signs them in")
    required_scanners: tuple[str, ...] = _setting("REQUIRED_SCANNERS", parse_tool_names, (),
        purpose="comma-separated names of scanners, such as `semgrep,Trivy`: what is published needs their results for "
                "exactly its texts ([scanners.md](security/scanners.md#require-results))")
    session_idle_hours: int = _setting("SESSION_IDLE_HOURS",
        whole_number(1, 720, "12", unit="whole hours", shown=60), 12,
        purpose="a session ends after so long without a request")
    session_days: int = _setting("SESSION_DAYS", whole_number(1, 90, "14", unit="whole days", shown=60), 14,
        purpose="a session ends so long after it began, used or not")
    traces_url: str | None = _setting("OTEL_EXPORTER_OTLP_ENDPOINT", parse_collector_url, None,
        purpose="the base URL of an OpenTelemetry collector, such as `http://127.0.0.1:4318`: traces and "
                "metrics are sent there over OTLP/HTTP; the other `OTEL_` variables of the SDK count too "
                "([operate.md](operate.md#traces))")
    traces_own_url: str | None = _setting("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", parse_collector_url, None,
        purpose="the whole URL for traces, such as `https://collector.example.com/v1/traces`, in its place")
    warnings: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
# fmt: on


# By the attribute that holds the value, in the order of docs/settings.md.
SETTINGS: Mapping[str, Setting] = {
    row.name: row.metadata["setting"] for row in fields(StudioEnvironment) if "setting" in row.metadata
}
# The variable of each secret's file, with that of the secret.
SECRET_FILES: Mapping[str, str] = {
    f"{setting.variable}_FILE": setting.variable for setting in SETTINGS.values() if setting.is_secret
}
VARIABLES = (*(setting.variable for setting in SETTINGS.values()), *SECRET_FILES)


def read_environment(environ: Mapping[str, str], *, base_dir: Path) -> StudioEnvironment:
    """Read every setting from `environ`; `base_dir` is what DATA_DIR is in by default.

    Raises ConfigurationError with all problems at once.
    """
    given = {name: text.strip() for name, text in environ.items() if text.strip()}
    problems = list(_read_secret_files(given))
    read = SimpleNamespace()
    for name, setting in SETTINGS.items():
        setattr(read, name, setting.default(read) if callable(setting.default) else setting.default)
        if given.get(setting.variable):
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
    warnings = tuple(_warnings(environ, read.secret_key))
    return StudioEnvironment(**vars(read), warnings=warnings, given=frozenset(given) & frozenset(VARIABLES))


def _read_secret_files(given: dict[str, str]) -> Iterator[str]:
    """Put the text of each file into `given`, and an empty one where it has none: the reason is the problem then."""
    for name, variable in SECRET_FILES.items():
        if name not in given:
            continue
        if variable in given:
            yield f"{name} and {variable} are both set: expected one of them. Remove the other"
            continue
        given[variable] = ""
        try:
            given[variable] = parse_secret_file(given[name])
        except ValueError as error:
            yield f"{name} {error}"


def _contradictions(given: Mapping[str, str], read: SimpleNamespace) -> Iterator[str]:
    # With DATABASE_URL several hosts may serve: a key made on each, or a guessed host name, would be wrong.
    if "DATABASE_URL" in given and "SECRET_KEY" not in given:
        yield (
            "SECRET_KEY is missing: with DATABASE_URL set it is required, the same on every host. "
            f"Make one with: {GENERATE_KEY}"
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
    if read.oauth_issuer and not read.oauth_domains:
        yield (
            "OAUTH_DOMAINS is missing: with OAUTH_ISSUER set it is required, or nobody could come in. "
            "Name the domains of your members' addresses, for example OAUTH_DOMAINS=example.com"
        )
    if read.model_url and not read.model_names:
        yield (
            "MODEL_NAMES is missing: with MODEL_URL set it is required. "
            "Name the models as the server calls them, for example MODEL_NAMES=llama3.2"
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
            f"SECRET_KEY has {len(secret_key)} characters; 32 or more are safer. Make one with: {GENERATE_KEY}"
        )
    for name in sorted(set(environ) - set(VARIABLES) - _NOT_OURS):
        close = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.86)
        if close and not name.startswith(_OPENTELEMETRY):
            warnings.append(f"{name} is set, which means nothing here; did you mean {close[0]}?")
    return warnings
