"""Each variable of the environment: that it works, then what is odd, then what one variable asks of another."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import make_password
from django.test import override_settings

from registry.models import Operator
from studio import settings as product  # noqa: TID251 (the product's own value, which the tests override)
from studio.config.email_url import MailServer
from studio.config.environment import SECRET_FILES, VARIABLES, ConfigurationError, StudioEnvironment, read_environment
from studio.config.parsers import DEFAULT_RATE_LIMITS, Rate
from studio.config.secret_key import describe_open_directory, get_stored_secret_key, protect_database
from tests.servers import ROOT
from tests.sweeps import check_each

KEY = "k" * 50
PRODUCTION = {
    "DATABASE_URL": "postgresql://u:p@db.example.com/studio",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "studio.example.com",
}


def read(**environ: str) -> StudioEnvironment:
    return read_environment(environ, base_dir=Path("/base"))


def problems(**environ: str) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as caught:
        read(**environ)
    return caught.value.problems


def problem(**environ: str) -> str:
    found = problems(**environ)
    assert len(found) == 1, found
    return found[0]


def test_defaults() -> None:
    environment = read()
    assert (environment.host, environment.port) == ("127.0.0.1", 8000)
    assert environment.data_dir == Path("/base/.data")
    assert environment.static_dir == Path("/base/.data/static")
    assert environment.database is None
    assert environment.redis_url is None
    assert environment.secret_key is None
    assert environment.debug is False
    assert environment.allowed_hosts == ("localhost", "127.0.0.1", "[::1]")
    assert environment.public_url is None
    assert environment.trusted_proxies == ()
    assert environment.cors_allowed_origins == ()
    assert environment.examples is True
    assert environment.agent_api_public_read is True
    assert environment.rate_limits == DEFAULT_RATE_LIMITS
    assert (environment.statement_timeout_seconds, environment.lock_timeout_seconds) == (30, 20)
    assert (environment.log_format, environment.access_log) == ("text", False)
    assert environment.warnings == ()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"LOG_FORMAT": "text"}, ("text", False)),
        ({"LOG_FORMAT": "JSON"}, ("json", True)),
        ({"LOG_FORMAT": "json", "ACCESS_LOG": "off"}, ("json", False)),
        ({"ACCESS_LOG": "on"}, ("text", True)),
    ],
)
def test_log_format(environ: dict[str, str], expected: tuple[str, bool]) -> None:
    environment = read(**environ)
    assert (environment.log_format, environment.access_log) == expected


@pytest.mark.parametrize("variable", ["DATABASE_STATEMENT_TIMEOUT_SECONDS", "DATABASE_LOCK_TIMEOUT_SECONDS"])
def test_timeouts(variable: str) -> None:
    found = {"DATABASE_STATEMENT_TIMEOUT_SECONDS": "statement_timeout_seconds"}.get(variable, "lock_timeout_seconds")
    for text, seconds in (("0", 0), ("45", 45), ("3600", 3600)):
        assert getattr(read(**{variable: text}), found) == seconds
    for text in ("-1", "3601", "1.5", "30s", "٣"):
        assert problem(**{variable: text}).startswith(f"{variable} is '{text}': expected whole seconds from 0")


def test_odd_log_format() -> None:
    assert problem(LOG_FORMAT="xml") == "LOG_FORMAT is 'xml': expected text or json, for example json"


def test_a_secret_may_stand_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    for text, found in (("s" * 40, "s" * 40), ("s" * 40 + "\n", "s" * 40), (" a b" * 9 + "\r\n\n", "a b" + " a b" * 8)):
        file.write_text(text)
        assert read(SECRET_KEY_FILE=str(file)).secret_key == found
        assert read(MODEL_API_KEY_FILE=f" {file} ").model_api_key == found
    file.write_text("postgresql://studio:secret@db/studio")
    environment = read(DATABASE_URL_FILE=str(file), SECRET_KEY="s" * 40, ALLOWED_HOSTS="studio.example.com")
    assert environment.database is not None
    assert environment.database.password == "secret"


def test_every_secret_has_a_file() -> None:
    assert set(SECRET_FILES.values()) == {
        name for name in VARIABLES if re.search("SECRET_KEY|API_KEY|CLIENT_SECRET|^(DATABASE|REDIS|EMAIL)_URL", name)
    } - set(SECRET_FILES)


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff" * 40, b"secret" * 20_000])
def test_a_file_without_a_secret_ends_the_start(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    said = problem(SECRET_KEY_FILE=str(file), DATABASE_URL="postgresql://db/studio", ALLOWED_HOSTS="a.example.com")
    assert said.startswith(f"SECRET_KEY_FILE is '{file}', which ")
    assert "secretsecret" not in said


def test_a_secret_and_its_file_are_not_both_given(tmp_path: Path) -> None:
    assert problem(REDIS_URL="redis://h/0", REDIS_URL_FILE=str(tmp_path)).startswith("REDIS_URL_FILE and REDIS_URL are")
    assert problem(REDIS_URL_FILE=f"{tmp_path}\0").startswith("REDIS_URL_FILE is ")


def test_what_is_wrong_in_a_file_is_said_without_it(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("mysql://root:hunter2@h/x")
    said = problem(DATABASE_URL_FILE=str(tmp_path / "url"), SECRET_KEY="s" * 40, ALLOWED_HOSTS="a.example.com")
    assert said.startswith("DATABASE_URL begins with")
    assert "hunter2" not in said


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_is_not_set(variable: str, blank: str) -> None:
    assert read(**{variable: blank}) == read()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(text, True) for text in ("1", "true", "TRUE", "yes", "Yes", "on", "ON", " on ")],
        *[(text, False) for text in ("0", "false", "False", "no", "NO", "off", "Off")],
    ],
)
def test_booleans(text: str, *, expected: bool) -> None:
    environment = read(DEBUG=text, EXAMPLES=text, AGENT_API_PUBLIC_READ=text)
    assert (environment.debug, environment.examples, environment.agent_api_public_read) == (expected,) * 3


@pytest.mark.parametrize("variable", ["DEBUG", "EXAMPLES", "AGENT_API_PUBLIC_READ"])
@pytest.mark.parametrize("text", ["maybe", "2", "enabled", "y", "truee", "١"])
def test_odd_booleans(variable: str, text: str) -> None:
    message = problem(**{variable: text})
    assert message == f"{variable} is '{text}': expected 1/0, true/false, yes/no or on/off, for example on"


def test_static_files_stand_with_the_data_or_where_they_were_collected() -> None:
    assert read(DATA_DIR="/srv/data").static_dir == Path("/srv/data/static")
    assert read(DATA_DIR="/srv/data", STATIC_DIR="/srv/static").static_dir == Path("/srv/static")


@pytest.mark.parametrize(("text", "port"), [("1", 1), ("8001", 8001), ("65535", 65535)])
def test_port(text: str, port: int) -> None:
    assert read(PORT=text).port == port


@pytest.mark.parametrize("text", ["0", "65536", "-1", "80.5", "http", "8000/tcp", "1e3", "٣", "9" * 5000])
def test_odd_port(text: str) -> None:
    assert problem(PORT=text).startswith(f"PORT is '{text}': expected a whole number from 1 to 65535")


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("0.0.0.0", "0.0.0.0"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("localhost", "localhost"),
        ("Studio.Example.COM", "studio.example.com"),
        ("my_service", "my_service"),
    ],
)
def test_host(text: str, host: str) -> None:
    assert read(HOST=text).host == host


@pytest.mark.parametrize("text", ["127.0.0.256", "http://localhost", "localhost:8000", "a b", "-a", "*", "a..b", "[x]"])
def test_odd_host(text: str) -> None:
    assert problem(HOST=text).startswith(f"HOST is '{text}': expected an address or a host name")


def test_data_dir_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read(DATA_DIR="kept").data_dir == tmp_path / "kept"
    assert read(DATA_DIR="~/kept").data_dir == tmp_path / "home" / "kept"


def test_data_dir_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "which is a file: expected a directory" in problem(DATA_DIR=str(tmp_path / "file"))


def database(url: str) -> Any:
    return read(**{**PRODUCTION, "DATABASE_URL": url}).database


def test_database_url() -> None:
    found = database(
        "postgres://us%40er:p%2Fa%3Fs%23s@db.example.com:6432/na%20me?sslmode=verify-full&connect_timeout=5"
    )
    assert (found.user, found.password, found.name) == ("us@er", "p/a?s#s", "na me")
    assert (found.host, found.port) == ("db.example.com", 6432)
    assert found.options == {"sslmode": "verify-full", "connect_timeout": "5"}


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgresql://u@/studio?host=/run/postgresql", "/run/postgresql"),
        ("postgresql://u@%2Frun%2Fpostgresql/studio", "/run/postgresql"),
        ("postgresql://u@[::1]/studio", "::1"),
        ("postgresql:///studio", ""),
    ],
)
def test_database_url_host(url: str, host: str) -> None:
    found = database(url)
    assert (found.host, found.name, found.port) == (host, "studio", None)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///db.sqlite3", "leave DATABASE_URL out"),
        ("mysql://u:hunter2@host/db", "begins with 'mysql': expected postgresql://"),
        ("postgresql:studio", "expected postgresql://"),
        ("just-a-name", "expected postgresql://"),
        ("postgresql://u:hunter2@host", "does not name one database"),
        ("postgresql://u:hunter2@host/a/b", "does not name one database"),
        ("postgresql://u:hunter2@host:port/db", "cannot be read as a URL"),
        ("postgresql://u:hunter2@a:1,b:2/db", "cannot be read as a URL"),
        ("postgresql://u:hunter#2@host/db", "cannot be read as a URL"),
        ("postgresql://u:p@host/db?sslmod=require", "did you mean 'sslmode'?"),
        ("postgresql://u:p@host/db?sslmode=on", "has sslmode 'on': expected one of disable"),
    ],
)
def test_odd_database_url(url: str, expected: str) -> None:
    message = problem(**{**PRODUCTION, "DATABASE_URL": url})
    assert message.startswith("DATABASE_URL ")
    assert expected in message
    assert "hunter" not in message


def test_database_url_asks_for_key_and_hosts() -> None:
    found = problems(DATABASE_URL=PRODUCTION["DATABASE_URL"])
    assert [message.split()[0] for message in found] == ["SECRET_KEY", "ALLOWED_HOSTS"]
    assert "secrets.token_urlsafe" in found[0]


def test_database_url_changes_defaults() -> None:
    environment = read(**PRODUCTION)
    assert environment.examples is False
    assert environment.agent_api_public_read is False
    assert environment.allowed_hosts == ("studio.example.com",)
    chosen = read(**PRODUCTION, EXAMPLES="on", AGENT_API_PUBLIC_READ="on")
    assert (chosen.examples, chosen.agent_api_public_read) == (True, True)


@pytest.mark.parametrize(
    ("host", "is_public"),
    [
        *[(host, True) for host in ("127.0.0.1", "127.0.0.2", "::1", "localhost", "a.localhost")],
        *[(host, False) for host in ("0.0.0.0", "::", "192.168.1.5", "studio.example.com")],
    ],
)
def test_public_read_follows_host(host: str, *, is_public: bool) -> None:
    assert read(HOST=host).agent_api_public_read is is_public


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "studio.example.com"])
def test_debug_stays_on_this_machine(host: str) -> None:
    assert problem(HOST=host, DEBUG="on").startswith(f"DEBUG is on while HOST is '{host}'")
    assert read(HOST="localhost", DEBUG="on").debug is True


def test_secret_key() -> None:
    assert read(SECRET_KEY=KEY).secret_key == KEY
    message = problem(SECRET_KEY="hunter2")
    assert message.startswith("SECRET_KEY has 7 characters: expected at least 32")
    assert "hunter2" not in message
    assert read(SECRET_KEY="hunter2hunter2").warnings[0].startswith("SECRET_KEY has 14 characters")


def test_former_secret_keys() -> None:
    assert read().secret_key_fallbacks == ()
    assert read(SECRET_KEY_FALLBACKS=f"{KEY}1, {KEY}2").secret_key_fallbacks == (f"{KEY}1", f"{KEY}2")
    message = problem(SECRET_KEY_FALLBACKS=f"{KEY},hunter2")
    assert message.startswith("SECRET_KEY_FALLBACKS has 7 characters")
    assert "hunter2" not in message


def test_allowed_hosts() -> None:
    hosts = read(ALLOWED_HOSTS="a.example.com, .example.org,::1,[::2],*,").allowed_hosts
    assert hosts == ("a.example.com", ".example.org", "[::1]", "[::2]", "*")
    assert read(HOST="10.0.0.5").allowed_hosts == ("localhost", "127.0.0.1", "[::1]", "10.0.0.5")
    assert read(HOST="fe80::1").allowed_hosts[-1] == "[fe80::1]"
    assert read(HOST="0.0.0.0").allowed_hosts == ("localhost", "127.0.0.1", "[::1]")


@pytest.mark.parametrize("text", ["https://a.example.com", "a.example.com:8000", "a/b", "a b", "*.example.com"])
def test_odd_allowed_hosts(text: str) -> None:
    assert problem(ALLOWED_HOSTS=text).startswith(f"ALLOWED_HOSTS has '{text}': expected host names")


@pytest.mark.parametrize(
    ("text", "origin", "host"),
    [
        ("https://studio.example.com", "https://studio.example.com", "studio.example.com"),
        ("HTTPS://Studio.Example.com/", "https://studio.example.com", "studio.example.com"),
        ("http://localhost:8080", "http://localhost:8080", "localhost"),
        ("http://[::1]:8080/", "http://[::1]:8080", "[::1]"),
    ],
)
def test_public_url(text: str, origin: str, host: str) -> None:
    environment = read(PUBLIC_URL=text)
    assert environment.public_url == origin
    assert host in environment.allowed_hosts
    assert host in read(PUBLIC_URL=text, ALLOWED_HOSTS="other.example.com").allowed_hosts


def test_odd_origins() -> None:
    def check(text: str) -> None:
        for variable in ("PUBLIC_URL", "CORS_ALLOWED_ORIGINS"):
            message = problem(**{variable: text})
            assert message.startswith(f"{variable} ")
            assert "expected" in message

    check_each(
        [
            *["studio.example.com", "ftp://a", "https://", "https://a/studio", "https://a?x=1", "https://a#x", "//a"],
            *["https://u:p@a", "https://a:99999", "https://a:port", "https://[::1", "https://a b", "https://*.a.com"],
        ],
        check,
    )


def test_cors_allowed_origins() -> None:
    found = read(CORS_ALLOWED_ORIGINS="https://a.example.com,http://localhost:3000/ ,").cors_allowed_origins
    assert found == ("https://a.example.com", "http://localhost:3000")


def test_trusted_proxies() -> None:
    found = read(TRUSTED_PROXIES="127.0.0.1, 10.0.0.0/8,fd00::/8").trusted_proxies
    assert found == (ip_network("127.0.0.1"), ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.1/8", "did you mean 10.0.0.0/8?"),
        ("nginx", "expected addresses or networks"),
        ("10.0.0.0/33", "10.0.0.0/33"),
    ],
)
def test_odd_networks(text: str, expected: str) -> None:
    for variable in ("TRUSTED_PROXIES", "WEBHOOK_ALLOWED_NETWORKS", "IMPORT_ALLOWED_NETWORKS"):
        assert expected in problem(**{variable: text})


def test_webhook_allowed_networks() -> None:
    assert read().webhook_allowed_networks == ()
    found = read(WEBHOOK_ALLOWED_NETWORKS="10.1.0.0/16").webhook_allowed_networks
    assert found == (ip_network("10.1.0.0/16"),)


def test_import_allowed_networks() -> None:
    assert read().import_allowed_networks == ()
    assert read(IMPORT_ALLOWED_NETWORKS="10.1.0.0/16").import_allowed_networks == (ip_network("10.1.0.0/16"),)


@pytest.mark.parametrize(
    "text",
    ["redis://localhost", "redis://:p@h:6379/1", "rediss://h:6380/0", "unix:///run/r.sock", "sentinel://:p@a,b:1/m/0"],
)
def test_redis_url(text: str) -> None:
    assert read(REDIS_URL=text).redis_url == text


@pytest.mark.parametrize(
    "text",
    [
        *["localhost:6379", "http://h", "redis://", "redis://h/x", "unix:r", "redis://h:hunter2"],
        *["sentinel://a:1", "sentinel://a:hunter2/m", "sentinel:///m", "sentinel://a:1/m/x", "sentinel://a:1/m/0/1"],
    ],
)
def test_odd_redis_url(text: str) -> None:
    message = problem(REDIS_URL=text)
    assert message.startswith("REDIS_URL ")
    assert "sentinel://:password@host1:26379" in message


def test_rate_limits() -> None:
    assert read(RATE_LIMITS="off").rate_limits == {}
    found = read(RATE_LIMITS="match=10/s, write = 5/HOUR,load=1000/day").rate_limits
    assert found == {
        "match": Rate(10, 1),
        "write": Rate(5, 3600),
        "guess": Rate(20, 60),
        "uncached": Rate(600, 60),
        "load": Rate(1000, 86400),
    }
    assert set(read(RATE_LIMITS="guess=off").rate_limits) == {"match", "write", "uncached"}


@pytest.mark.parametrize(
    "text", ["on", "match", "match=", "match=0/min", "match=10", "match=10/week", "mach=1/s", "match=-1/s"]
)
def test_odd_rate_limits(text: str) -> None:
    assert problem(RATE_LIMITS=text).startswith(f"RATE_LIMITS has '{text}': expected")


@pytest.mark.parametrize("names", [{}, {"MODEL_NAMES": " , "}])
def test_a_model_needs_names(names: dict[str, str]) -> None:
    assert problem(MODEL_URL="http://127.0.0.1:11434/v1", **names).startswith("MODEL_NAMES is missing: with MODEL_URL")
    assert read(MODEL_URL="http://127.0.0.1:11434/v1", MODEL_NAMES="small").model_names == ("small",)


def test_all_problems_at_once() -> None:
    found = problems(PORT="x", DEBUG="x", RATE_LIMITS="x", PUBLIC_URL="x")
    assert {message.split()[0] for message in found} == {"PORT", "DEBUG", "RATE_LIMITS", "PUBLIC_URL"}


def test_misspelt_variables_are_named() -> None:
    found = read(DATABSE_URL="postgresql://h/db", ALOWED_HOSTS="a", HOSTNAME="box", PATH="/bin", SHELL="sh").warnings
    assert found == (
        "ALOWED_HOSTS is set, which means nothing here; did you mean ALLOWED_HOSTS?",
        "DATABSE_URL is set, which means nothing here; did you mean DATABASE_URL?",
    )


def test_kept_key_is_made_once(tmp_path: Path) -> None:
    data_dir = tmp_path / "new" / "data"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: get_stored_secret_key(data_dir), range(16)))
    assert len(keys) == 1
    assert len(keys.pop()) >= 50
    assert [path.name for path in data_dir.iterdir()] == ["secret_key"]
    assert stat.S_IMODE((data_dir / "secret_key").stat().st_mode) == 0o600


def test_the_database_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Made as 0644 in a directory of 0755, another user of the machine read hashes and the secrets of webhooks."""
    tmp_path.chmod(0o755)
    before = os.umask(0o022)
    try:
        program = (
            "import django; django.setup(); from django.db import connection as c;"
            "c.cursor().execute('create table t (n)'); import os, pathlib, json;"
            "found = pathlib.Path(os.environ['DATA_DIR']).glob('s*.sqlite3*');"
            "print(json.dumps([oct(p.stat().st_mode) for p in found]))"
        )
        environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "studio.settings", "DATA_DIR": str(tmp_path)}
        environ.pop("DATABASE_URL", None)
        made = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    finally:
        os.umask(before)
    assert set(json.loads(made.stdout)) == {"0o100600"}


def test_a_database_of_before_is_closed_to_others(tmp_path: Path) -> None:
    for name in ("studio.sqlite3", "studio.sqlite3-wal"):
        (tmp_path / name).write_bytes(b"")
        (tmp_path / name).chmod(0o644)
    protect_database(tmp_path)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o640}
    # A registry that was lost is not made again under its name.
    gone = tmp_path / "gone"
    gone.mkdir()
    (gone / "first_start_done").touch()
    protect_database(gone)
    assert not (gone / "studio.sqlite3").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_data_dir_that_others_may_look_into_is_named_and_not_changed(tmp_path: Path) -> None:
    for mode, is_open in ((0o700, False), (0o750, False), (0o755, True), (0o701, True), (0o777, True)):
        tmp_path.chmod(mode)
        words = describe_open_directory(tmp_path)
        assert (f"mode {mode:04o}" in words and f"chmod o-rwx '{tmp_path}'" in words) is is_open, words
        assert bool(words) is is_open
        assert stat.S_IMODE(tmp_path.stat().st_mode) == mode
    tmp_path.chmod(0o700)
    assert describe_open_directory(tmp_path / "absent") == ""


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 60])
def test_damaged_key_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(ConfigurationError, match="DATA_DIR"):
        get_stored_secret_key(tmp_path)


def test_unusable_data_dir_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"DATA_DIR is '/dev/null/data', which cannot be used"):
        get_stored_secret_key(Path("/dev/null/data"))


def in_django(tmp_path: Path, expression: str, **environ: str) -> Any:
    """The value of an expression over Django's settings, in a process with this environment."""
    program = f"import json; from django.conf import settings; print(json.dumps({expression}, default=str))"
    inherited = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    env = {**inherited, "DJANGO_SETTINGS_MODULE": "studio.settings", "DATA_DIR": str(tmp_path), **environ}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_https_makes_cookies_secure(tmp_path: Path) -> None:
    expression = "[settings.SESSION_COOKIE_SECURE, settings.CSRF_COOKIE_SECURE, settings.CSRF_TRUSTED_ORIGINS]"
    origin = "https://studio.example.com"
    assert in_django(tmp_path, expression, PUBLIC_URL=origin) == [True, True, [origin]]
    assert in_django(tmp_path, expression) == [False, False, []]


def test_https_keeps_cookies_to_the_host(tmp_path: Path) -> None:
    """A site of the same domain could set the session's or the form's cookie."""
    expression = "[settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME]"
    names = ["__Host-studio_session", "__Host-studio_csrf"]
    assert in_django(tmp_path, expression, PUBLIC_URL="https://studio.example.com") == names
    assert not any(name.startswith("__") for name in in_django(tmp_path, expression, PUBLIC_URL="http://studio.lan"))
    expression = "[settings.SESSION_COOKIE_PATH, settings.SESSION_COOKIE_DOMAIN, settings.CSRF_COOKIE_DOMAIN]"
    assert in_django(tmp_path, expression, PUBLIC_URL="https://studio.example.com") == ["/", None, None]


def test_what_the_url_says_of_waiting_wins(tmp_path: Path) -> None:
    url = "postgresql://u@db.example.com/studio?connect_timeout=30&keepalives_idle=60"
    found = in_django(tmp_path, "settings.DATABASES['default']['OPTIONS']", **{**PRODUCTION, "DATABASE_URL": url})
    assert (found["connect_timeout"], found["keepalives_idle"], found["keepalives_count"]) == ("30", "60", "3")


def test_postgresql_in_django(tmp_path: Path) -> None:
    url = "postgresql://u:p%40ss@db.example.com:6432/studio?sslmode=require"
    found = in_django(tmp_path, "settings.DATABASES['default']", **{**PRODUCTION, "DATABASE_URL": url})
    assert (found["NAME"], found["USER"], found["PASSWORD"]) == ("studio", "u", "p@ss")
    assert (found["HOST"], found["PORT"], found["OPTIONS"]["sslmode"]) == ("db.example.com", "6432", "require")
    assert (found["OPTIONS"]["connect_timeout"], found["OPTIONS"]["tcp_user_timeout"]) == ("5", "15000")
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.parametrize("command", [["manage.py", "check"], ["-c", "import studio.wsgi"]])
def test_odd_setting_is_a_sentence(tmp_path: Path, command: list[str]) -> None:
    env = {**os.environ, "DATA_DIR": str(tmp_path), "PORT": "eighty", "DEBUG": "maybe"}
    env.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["DEBUG", "PORT"]


@pytest.mark.sqlite
@pytest.mark.django_db
def test_sqlite_is_set_up_for_writers() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        found = [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    assert found == ["wal", 1, 1, 20000]
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("smtp://mail.example.com", MailServer("mail.example.com", 25, "", "", "none")),
        ("smtp+starttls://u%40x:p%3Aq@mail.example.com", MailServer("mail.example.com", 587, "u@x", "p:q", "starttls")),
        ("smtps://u:p@mail.example.com:4650", MailServer("mail.example.com", 4650, "u", "p", "tls")),
        ("console", None),
        ("", None),
    ],
)
def test_where_mail_goes(text: str, expected: MailServer | None) -> None:
    assert read(EMAIL_URL=text).mail_server == expected


@pytest.mark.parametrize(
    "text", ["mail.example.com", "http://mail.example.com", "smtp://", "smtp://h/path", "smtp://h?x=1", "smtp://h:x"]
)
def test_an_odd_mail_server_is_named_without_its_password(text: str) -> None:
    assert "EMAIL_URL" in problem(EMAIL_URL=text)
    assert "hunter2" not in problem(EMAIL_URL=text.replace("://", "://u:hunter2@") + " /")


@pytest.mark.parametrize("text", ["nobody", "a@b@c", "<>", "a b@example.com"])
def test_an_odd_sender_is_named(text: str) -> None:
    assert "EMAIL_FROM" in problem(EMAIL_FROM=text)
    assert read(EMAIL_FROM="A Studio <a@example.com>").mail_from == "A Studio <a@example.com>"


@pytest.mark.django_db
def test_passwords_are_hashed_with_argon2_and_older_hashes_are_replaced_at_the_sign_in() -> None:
    with override_settings(PASSWORD_HASHERS=product.PASSWORD_HASHERS):
        old = make_password("a long password", hasher="pbkdf2_sha256")
        operator = Operator.objects.create(username="vera", password=old, role="viewer")
        assert authenticate(username="vera", password="another password") is None
        operator.refresh_from_db()
        assert operator.password == old
        assert authenticate(username="vera", password="a long password") == operator
        operator.refresh_from_db()
        assert operator.password.startswith("argon2$argon2id$")
