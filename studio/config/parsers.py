"""Read the text of one environment variable into a value.

Each parser takes text without blanks at its ends and raises ValueError with the rest of a sentence that begins with the
variable's name: what came, what is expected, an example. Secrets are never repeated.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from capability_kit.http_address import HttpAddress
from registry.common.installation import list_leaf_names
from registry.common.redis_clients import SENTINEL_EXAMPLE, parse_sentinels

SECRET_BYTES_MAX = 65_536
GENERATE_KEY = "python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"

Network = IPv4Network | IPv6Network
ModelKind = Literal["openai", "anthropic"]
LogFormat = Literal["text", "json"]


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` calls in `seconds`, by one key or one address."""

    count: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Database:
    """Where PostgreSQL is; every part decoded. `options` are libpq's own words, such as `sslmode`."""

    name: str
    user: str
    password: str
    host: str
    port: int | None
    options: Mapping[str, str]


DEFAULT_RATE_LIMITS: Mapping[str, Rate] = MappingProxyType(
    {"match": Rate(6000, 60), "write": Rate(600, 60), "guess": Rate(20, 60), "uncached": Rate(600, 60)}
)
LIMITED = ("match", "write", "guess", "uncached", "list", "load")
SECONDS = MappingProxyType(
    {"s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "day": 86400}
)
# What libpq understands and an operator may need; anything else in the URL is more likely a slip than a wish.
DATABASE_OPTIONS = (
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "gssencmode",
    "host",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "options",
    "passfile",
    "service",
    "sslcert",
    "sslcrl",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslpassword",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
)
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def parse_boolean(text: str) -> bool:
    """1/0, true/false, yes/no, on/off in any case."""
    word = text.lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise ValueError(f"is '{text}': expected 1/0, true/false, yes/no or on/off, for example on")


def parse_log_format(text: str) -> LogFormat:
    """`text` or `json`, in any case."""
    known: Mapping[str, LogFormat] = {"text": "text", "json": "json"}
    try:
        return known[text.lower()]
    except KeyError:
        raise ValueError(f"is '{text}': expected text or json, for example json") from None


def whole_number(
    low: int, high: int, example: str, *, unit: str = "a whole number", zero: str = "", shown: int | None = None
) -> Callable[[str], int]:
    """A parser of plain digits; its message repeats what came, cut to `shown` characters."""

    def parse(text: str) -> int:
        if re.fullmatch(rf"[0-9]{{1,{len(str(high))}}}", text) and low <= int(text) <= high:
            return int(text)
        start = f"{low} ({zero})" if zero else low
        raise ValueError(f"is '{text[:shown]}': expected {unit} from {start} to {high}, for example {example}")

    return parse


_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*", re.ASCII)


def parse_host(text: str) -> str:
    """An address to listen on (IPv6 with or without brackets, answered without) or a host name, in lower case."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        return str(ip_address(bare))
    except ValueError:
        # A name of digits and dots alone is an address with a slip in it, such as 127.0.0.256.
        if _HOST_NAME.fullmatch(text) and len(text) <= 253 and not re.fullmatch(r"[0-9.]+", text):
            return text.lower()
    raise ValueError(
        f"is '{text}': expected an address or a host name to listen on, without scheme or port, for example 127.0.0.1"
    )


def parse_directory(text: str) -> Path:
    """An absolute path; `~` is the home directory, a relative path counts from where the command was given."""
    if "\0" in text:
        raise ValueError("holds a NUL character: expected a directory, for example /srv/studio")
    path = Path(text).expanduser().absolute()
    if path.exists() and not path.is_dir():
        raise ValueError(f"is '{text}', which is a file: expected a directory, for example /srv/studio")
    return path


def parse_key_file(text: str) -> Path:
    """A file that is there: a signing key that was to be read is never made again in its place."""
    make = "Make one with: openssl genpkey -algorithm ed25519 -out FILE"
    if "\0" in text:
        raise ValueError(f"holds a NUL character: expected a PEM file. {make}")
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise ValueError(f"is '{text}', where no file is: expected a PEM file with an Ed25519 private key. {make}")
    return path


def parse_file(text: str) -> Path:
    """A file that may be there, or is made."""
    path = Path(text).expanduser().absolute() if "\0" not in text else None
    if path is None or path.is_dir():
        raise ValueError(f"is '{text[:200]}': expected a file, such as CHECKPOINT_FILE=/var/lib/studio/checkpoint.json")
    return path


def parse_secret_file(text: str) -> str:
    """The secret that the file of this name has, without blanks at its ends: editors add a newline."""
    try:
        with Path(text).open("rb") as file:
            content = file.read(SECRET_BYTES_MAX + 1)
        secret = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"is '{text[:200]}', which is not UTF-8: expected a text file with the secret") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name of no file"
        raise ValueError(
            f"is '{text[:200]}', which cannot be read ({reason}): expected a file with the secret, such as "
            "/run/secrets/studio_key, that the user of this process may read"
        ) from None
    if len(content) > SECRET_BYTES_MAX:
        raise ValueError(f"is '{text[:200]}', which has more than {SECRET_BYTES_MAX} bytes: expected one secret")
    if not secret:
        raise ValueError(f"is '{text[:200]}', which is empty: expected a file with the secret")
    return secret


def parse_secret_key(text: str) -> str:
    """At least 8 characters; shorter can be guessed in seconds."""
    if len(text) < 8:
        raise ValueError(f"has {len(text)} characters: expected at least 32. Make one with: {GENERATE_KEY}")
    return text


def parse_secret_keys(text: str) -> tuple[str, ...]:
    """Former keys, comma separated."""
    return tuple(parse_secret_key(item) for item in split_items(text))


def split_url(text: str, expected: str) -> SplitResult:
    """Split a URL; its port is checked here, because `urlsplit` complains only when it is asked."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        # The reason may quote a password that was not percent-encoded, so it is not repeated.
        raise ValueError(f"cannot be read as a URL: expected {expected}") from error
    return parts


_DATABASE_EXAMPLE = "postgresql://user:password@host:5432/name (special characters percent-encoded, as %40 for @)"


def parse_database_url(text: str) -> Database:
    """A PostgreSQL URL as libpq takes it; a socket directory is `?host=/run/postgresql` or a percent-encoded host."""
    scheme = text.partition(":")[0].lower()
    if scheme.startswith("sqlite"):
        raise ValueError(
            "is for SQLite: expected a PostgreSQL URL. For SQLite leave DATABASE_URL out; "
            "the file is kept in DATA_DIR, for example DATA_DIR=/srv/studio"
        )
    if scheme not in {"postgres", "postgresql"} or "://" not in text:
        raise ValueError(f"begins with '{scheme[:20]}': expected {_DATABASE_EXAMPLE}")
    parts = split_url(text, _DATABASE_EXAMPLE)
    name = unquote(parts.path.removeprefix("/"))
    if not name or "/" in name or parts.fragment:
        raise ValueError(f"does not name one database: expected {_DATABASE_EXAMPLE}")
    options = _database_options(parts.query)
    return Database(
        name=name,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        host=options.pop("host", unquote(parts.hostname or "")),
        port=parts.port,
        options=options,
    )


def _database_options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for option in options:
        if option not in DATABASE_OPTIONS:
            close = difflib.get_close_matches(option, DATABASE_OPTIONS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(DATABASE_OPTIONS)}"
            raise ValueError(f"has the unknown option '{option}': {hint} For example ?sslmode=verify-full")
    if options.get("sslmode", "prefer") not in SSL_MODES:
        raise ValueError(f"has sslmode '{options['sslmode']}': expected one of {', '.join(SSL_MODES)}")
    return options


def parse_redis_url(text: str) -> str:
    """The URL of a Redis, or of the Sentinels that know where it is."""
    if parse_sentinels(text) is not None:
        return text
    expected = f"redis://host:6379/0, rediss:// for TLS, unix:///path/to/redis.sock, or {SENTINEL_EXAMPLE}"
    parts = split_url(text, expected)
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise ValueError(f"has the scheme '{parts.scheme}': expected {expected}")
    if parts.scheme == "unix" and not parts.path.startswith("/"):
        raise ValueError(f"names no socket: expected {expected}")
    if parts.scheme != "unix":
        if not parts.hostname:
            raise ValueError(f"names no host: expected {expected}")
        if not re.fullmatch(r"/?\d*", parts.path):
            raise ValueError(f"has the database '{parts.path[1:]}', which is not a number: expected {expected}")
    return text


def parse_origin(text: str) -> str:
    """An http or https origin; one slash at its end is dropped, scheme and host are in lower case."""
    expected = "an address without path, for example https://studio.example.com"
    parts = split_url(text, expected)
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"is '{text}': expected {expected} (http or https)")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"holds a user or a password: expected {expected}")
    if not parts.hostname or parts.path not in {"", "/"} or parts.query or parts.fragment or text.endswith(("?", "#")):
        raise ValueError(f"is '{text}': expected {expected}")
    _check_host_pattern(format_host(parts.hostname), wildcard=False)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{format_host(parts.hostname)}{port}"


def parse_collector_url(text: str) -> str:
    """An absolute `http` or `https` URL of a collector, with a path or without."""
    expected = "an http or https URL, for example http://127.0.0.1:4318"
    url = split_url(text, expected)
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
        raise ValueError(f"is '{_without_password(text)}': expected {expected}")
    return text


def _without_password(url: str) -> str:
    return re.sub(r"(?<=://)[^/@]*@", "", url)


def parse_origins(text: str) -> tuple[str, ...]:
    """Origins such as https://agents.example.com, comma separated."""
    return tuple(parse_origin(item) for item in split_items(text))


def parse_allowed_hosts(text: str) -> tuple[str, ...]:
    """Host names or addresses, comma separated; `.example.com` means all its subdomains, `*` any."""
    hosts = tuple(_bare_ipv6(item) for item in split_items(text))
    for host in hosts:
        _check_host_pattern(host, wildcard=True)
    return hosts


def _check_host_pattern(host: str, *, wildcard: bool) -> None:
    if wildcard and host == "*":
        return
    name = host.removeprefix(".") if wildcard else host
    try:
        parse_host(name)
    except ValueError:
        raise ValueError(
            f"has '{host}': expected host names without scheme, port or path, for example studio.example.com"
        ) from None


def _bare_ipv6(host: str) -> str:
    """Django compares an IPv6 host with its brackets on."""
    try:
        return format_host(str(ip_address(host)))
    except ValueError:
        return host.lower()


def format_host(host: str) -> str:
    """A host as it is written in a URL: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def parse_networks(text: str) -> tuple[Network, ...]:
    """Addresses or networks (CIDR), comma separated."""
    return tuple(_network(item) for item in split_items(text))


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError:
        pass
    try:
        meant = f" (did you mean {ip_network(text, strict=False)}?)"
    except ValueError:
        meant = ""
    raise ValueError(f"has '{text}': expected addresses or networks, for example 127.0.0.1,10.0.0.0/8{meant}")


def parse_rate_limits(text: str) -> Mapping[str, Rate]:
    """`off`, or pairs such as `match=6000/min`; what is not named keeps its default, `guess=off` lifts one limit."""
    if text.lower() == "off":
        return MappingProxyType({})
    limits = dict(DEFAULT_RATE_LIMITS)
    for item in split_items(text):
        name, equals, rate = (part.strip().lower() for part in item.partition("="))
        if not equals or name not in LIMITED:
            raise ValueError(f"has '{item}': expected off, or pairs such as match=6000/min for {', '.join(LIMITED)}")
        limits.pop(name, None)
        if rate != "off":
            limits[name] = _rate(rate, item)
    return MappingProxyType(limits)


def _rate(text: str, item: str) -> Rate:
    match = re.fullmatch(r"(\d{1,9})/([a-z]+)", text, re.ASCII)
    if match is None or match[2] not in SECONDS or int(match[1]) < 1:
        raise ValueError(f"has '{item}': expected a count per s, min, h or day, for example match=6000/min")
    return Rate(int(match[1]), SECONDS[match[2]])


def split_items(text: str) -> list[str]:
    """Comma separated, blanks around each dropped; a comma too many is forgiven."""
    return [item.strip() for item in text.split(",") if item.strip()]


def parse_domains(text: str) -> tuple[str, ...]:
    """Domains of e-mail in lower case, comma separated; a domain does not bring those below it."""
    domains = tuple(item.lower() for item in split_items(text))
    wrong = next((domain for domain in domains if not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", domain)), None)
    if wrong is not None:
        raise ValueError(f"has '{wrong[:80]}': expected domains of e-mail in ASCII, for example example.com")
    return domains


def parse_embedder(text: str) -> str:
    """`auto`, `multilingual`, `minilm`, `none`, or the URL of an endpoint in OpenAI's form."""
    if text.lower() in ("auto", "multilingual", "minilm", "none"):
        return text.lower()
    address = HttpAddress.parse(text)
    if address is not None and not address.has_user:
        return text
    raise ValueError(
        f"is '{text[:60]}': expected auto, multilingual, minilm, none or the URL of an embeddings endpoint, "
        "for example https://models.example.com/v1/embeddings"
    )


def parse_model_url(text: str) -> str:
    """The base address of a model's interface, without a slash at its end."""
    address = HttpAddress.parse(text)
    if address is not None and not (address.has_user or address.query or address.fragment):
        return text.rstrip("/")
    raise ValueError(f"is '{text[:60]}': expected an http(s) address, for example http://127.0.0.1:11434/v1")


def parse_model_kind(text: str) -> ModelKind:
    """The form of a model's interface."""
    if text not in ("openai", "anthropic"):
        raise ValueError(f"is '{text[:40]}': expected openai or anthropic")
    return "openai" if text == "openai" else "anthropic"


def parse_price(text: str) -> tuple[float, float]:
    """Two prices of a million tokens: read and written."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)/(\d{1,6}(?:\.\d{1,6})?)", text.strip(), re.ASCII)
    if match is None:
        raise ValueError(f"is '{text[:40]}': expected two prices of a million tokens, for example 0.15/0.60")
    return float(match[1]), float(match[2])


def parse_features(text: str) -> tuple[str, ...]:
    """`all`, `none`, or names of features, comma separated, each once."""
    known = list_leaf_names()
    if text.strip().lower() in ("all", "none"):
        return known if text.strip().lower() == "all" else ()
    names = tuple(dict.fromkeys(split_items(text)))
    wrong = next((name for name in names if name not in known), None)
    if wrong is not None:
        raise ValueError(f"has '{wrong[:40]}': expected all, none, or names of {', '.join(known)}, comma separated")
    return names


def parse_tool_names(text: str) -> tuple[str, ...]:
    """Names of scanners, comma separated, each once."""
    names = tuple(dict.fromkeys(split_items(text)))
    wrong = next((name for name in names if len(name) > 80 or not name.isprintable()), None)
    if wrong is not None:
        raise ValueError(f"has '{wrong[:40]}': expected names of at most 80 characters, for example semgrep,Trivy")
    return names
