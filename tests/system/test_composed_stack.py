"""The services of docker-compose.yml at work together, from an empty database to a load through nginx."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
import pytest
import zstandard

from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX
from tests.browser.steps import PASSWORD, sign_in
from tests.factories import bundle, zip_of
from tests.shapes import assert_error
from tests.system.stack import ORDER, Stack, make_stack, owner_of, processes_below, remove, start_all, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.system, pytest.mark.rare, pytest.mark.nginx, pytest.mark.redis]

LIST, LOAD = "/api/v1/capability_registry_list", "/api/v1/capability_skill_load"
PUBLISH = "/api/v1/operator/bundle_publish"
Connect = Callable[..., httpx2.Client]


@pytest.fixture(scope="module")
def stack(nginx: str) -> Iterator[Stack]:
    """All services, with an operator, a key and the examples, made by the commands of docs/deploy.md."""
    for program in ("redis-server", "openssl", "wget"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}: apt install {program}")
    stack = make_stack(nginx)
    try:
        start_all(stack)
        stack.manage("operator", "create", "olga", "--role", "admin", "--password-stdin", text=PASSWORD)
        stack.manage("bundle", "publish", "examples", "--note", "First release")
        yield stack
    finally:
        remove(stack)


@pytest.fixture(scope="module")
def key(stack: Stack) -> str:
    return stack.manage("agent_key", "create", "first agent").strip()


@pytest.fixture(scope="module")
def pipeline_key(stack: Stack) -> str:
    return stack.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").strip()


@pytest.fixture
def connect(stack: Stack) -> Iterator[Connect]:
    """Opens clients of nginx that check its certificate; each may have an address of its own."""
    trusted = ssl.create_default_context(cafile=str(stack.certificate))
    opened: list[httpx2.Client] = []

    def open_client(key: str = "", address: str = "127.0.0.1") -> httpx2.Client:
        transport = httpx2.HTTPTransport(verify=trusted, local_address=address)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        opened.append(httpx2.Client(base_url=stack.url, transport=transport, headers=headers, timeout=30))
        return opened[-1]

    yield open_client
    for client in opened:
        client.close()


@pytest.fixture
def agent(connect: Connect, key: str) -> httpx2.Client:
    return connect(key)


def _post_sign_in(client: httpx2.Client, password: str, username: str = "olga", **headers: str) -> httpx2.Response:
    page = client.get("/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token is not None
    form = {"csrfmiddlewaretoken": token[1], "username": username, "password": password, "next": ""}
    # As a browser does: over https a form without an origin is refused.
    origin = {"Origin": str(client.base_url).rstrip("/"), "Referer": f"{client.base_url}sign-in/"}
    return client.post("/sign-in/", data=form, headers={**origin, **headers})


def test_an_agent_lists_and_loads(agent: httpx2.Client) -> None:
    listed = agent.get(LIST).json()
    assert len(listed["capabilities"]) == 7
    loaded = agent.get(LOAD, params={"capability_id": "weights"})
    assert loaded.status_code == 200
    assert loaded.json()["capability"]["name"] == "Weight Tracking"
    assert agent.post(LOAD, json={"capability_id": "weights"}).json() == loaded.json()


@pytest.mark.parametrize("coding", ["identity", "gzip", "zstd"])
def test_each_form_comes_through_as_it_was_made(agent: httpx2.Client, coding: str) -> None:
    plain = agent.get(f"{LOAD}?capability_id=weights", headers={"Accept-Encoding": "identity"}).content
    with agent.stream("GET", f"{LOAD}?capability_id=weights", headers={"Accept-Encoding": coding}) as response:
        body = b"".join(response.iter_raw())
    assert response.headers.get("Content-Encoding", "identity") == coding
    assert _decoded(body, coding) == plain
    etag = response.headers["ETag"]
    assert not etag.startswith("W/")
    again = agent.get(f"{LOAD}?capability_id=weights", headers={"Accept-Encoding": coding, "If-None-Match": etag})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)


def _decoded(body: bytes, coding: str) -> bytes:
    if coding == "gzip":
        return gzip.decompress(body)
    return zstandard.ZstdDecompressor().decompress(body) if coding == "zstd" else body


def test_what_is_not_there_is_said_as_ever(agent: httpx2.Client, connect: Connect) -> None:
    unknown = agent.get(LOAD, params={"capability_id": "sleep_tracking"})
    assert_error(unknown.json(), "CAPABILITY_NOT_FOUND")
    assert unknown.status_code == 404
    stranger = connect().get(LIST)
    assert (stranger.status_code, stranger.json()["error"]["code"]) == (401, "UNAUTHENTICATED")


def test_every_web_process_answers_as_soon_as_something_is_published(
    agent: httpx2.Client, connect: Connect, pipeline_key: str
) -> None:
    files = bundle("night_shift")
    done = connect(pipeline_key).post(
        f"{PUBLISH}?note=x", content=zip_of(files), headers={"Content-Type": "application/zip"}
    )
    assert done.json()["results"][0]["status"] == "published"
    wait_for(lambda: agent.get(f"{LOAD}?capability_id=night_shift").status_code == 200, 10, "the publish")
    time.sleep(1)
    # More calls than processes, each on a connection of its own.
    for _ in range(8):
        found = agent.get(f"{LOAD}?capability_id=night_shift", headers={"Connection": "close"})
        assert found.status_code == 200


def test_an_operator_signs_in(stack: Stack, connect: Connect) -> None:
    client = connect(address="127.0.0.2")
    before = client.get("/")
    assert before.headers["Location"] == "/sign-in/?next=/"
    assert client.get("/capabilities/").headers["Location"].startswith("/sign-in/")
    answer = _post_sign_in(client, PASSWORD)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    for name in ("__Host-studio_session", "__Host-studio_csrf"):
        (cookie,) = [line for line in _set_cookies(client, answer) if line.startswith(f"{name}=")][:1]
        assert {"Secure", "HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    page = client.get("/capabilities/")
    assert page.status_code == 200
    assert "Weight Tracking" in page.text
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"


def _set_cookies(client: httpx2.Client, answer: httpx2.Response) -> list[str]:
    return [*answer.headers.get_list("Set-Cookie"), *client.get("/sign-in/").headers.get_list("Set-Cookie")]


def test_a_form_from_elsewhere_is_refused(connect: Connect) -> None:
    answer = _post_sign_in(connect(address="127.0.0.3"), PASSWORD, Origin="https://elsewhere.example.com")
    assert answer.status_code == 403


def test_absolute_addresses_are_the_public_ones(stack: Stack, agent: httpx2.Client) -> None:
    found = agent.get("/schemas/" + _a_schema(stack)).json()
    assert found["$id"].startswith(f"{stack.url}/schemas/")


def _a_schema(stack: Stack) -> str:
    folder = stack.cwd / "schemas"
    return min(path.relative_to(folder).as_posix() for path in folder.rglob("*.schema.json"))


def test_static_files_have_hashed_names_and_are_kept_for_ever(connect: Connect) -> None:
    client = connect()
    found = re.findall(r'(?:href|src)="(/static/[^"]+)"', client.get("/sign-in/").text)
    assert found
    for address in found:
        answer = client.get(address)
        assert answer.status_code == 200
        assert re.search(r"\.[0-9a-f]{12}\.\w+(?:#[\w-]+)?$", address)
        assert "immutable" in answer.headers["Cache-Control"]
        assert re.search(r"max-age=\d{8,}", answer.headers["Cache-Control"])


def test_http_is_sent_on_to_https(stack: Stack) -> None:
    origin = f"http://localhost:{stack.ports['http']}"
    answer = httpx2.post(f"{origin}{LOAD}?capability_id=weights", follow_redirects=False)
    assert answer.status_code == 308
    assert answer.headers["Location"] == f"https://localhost{LOAD}?capability_id=weights"


def test_certificates_can_be_renewed_over_http(stack: Stack) -> None:
    folder = stack.scratch / "tls/acme/.well-known/acme-challenge"
    folder.mkdir(parents=True)
    (folder / "token").write_text("the answer")
    answer = httpx2.get(f"http://localhost:{stack.ports['http']}/.well-known/acme-challenge/token")
    assert (answer.status_code, answer.text) == (200, "the answer")


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "/%6detrics", "//metrics", "/x/../metrics", "/metrics?x=1"])
def test_metrics_are_not_for_the_outside(agent: httpx2.Client, path: str) -> None:
    answer = agent.get(httpx2.URL(agent.base_url).copy_with(raw_path=path.encode()))
    assert answer.status_code == 404
    assert "nginx" in answer.text


def test_probes_are_answered(connect: Connect) -> None:
    assert connect().get("/healthz").text == "ok\n"
    assert connect().get("/readyz").json() == {"ready": True, "database": "ok", "redis": "ok"}


def test_a_name_that_is_not_ours_is_refused(connect: Connect) -> None:
    assert connect().get("/sign-in/", headers={"Host": "elsewhere.example.com"}).status_code == 400
    # nginx says it anew, so that a client's own word counts for nothing.
    spoofed = connect().get("/sign-in/", headers={"X-Forwarded-Host": "elsewhere.example.com"})
    assert spoofed.status_code == 200


def test_bodies_are_bounded_at_the_door(agent: httpx2.Client, connect: Connect, pipeline_key: str) -> None:
    agents = agent.post(LOAD, content=b" " * (8 * 2**20), headers={"Content-Type": "application/json"})
    operators = connect(pipeline_key).post(
        PUBLISH, content=b" " * (66 * 2**20), headers={"Content-Type": "application/zip"}
    )
    for answer in (agents, operators):
        # Not by the product, which names its limit in bytes.
        assert "The body is larger than this address takes" in answer.text
        assert answer.status_code == 413
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"


def test_what_the_product_takes_passes_the_door(connect: Connect, pipeline_key: str) -> None:
    """An archive just under its limit is read, and refused for what is in it."""
    answer = connect(pipeline_key).post(
        PUBLISH, content=b"no zip" + b" " * (64 * 2**20 - 6), headers={"Content-Type": "application/zip"}
    )
    assert answer.status_code not in {413, 502, 504}
    assert "error" in answer.json() or "results" in answer.json()


def test_the_largest_file_that_is_kept_passes_the_door(connect: Connect, pipeline_key: str) -> None:
    content = b"x" * CONTENT_BYTES_MAX
    said = {"path": "SKILL.md", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    client = connect(pipeline_key)
    announced = client.post("/clawhub/api/v1/skills/-/upload-url", json=said).json()
    path = urlsplit(announced["uploadUrl"]).path
    sent = client.post(path, content=content, headers={"Content-Type": "text/markdown"})
    assert sent.json() == {"storageId": announced["uploadTicket"]}


def _attempts_until_refused(attempt: Callable[[int], int]) -> int:
    """How many sign-ins a network gets. It earns another one every few seconds, so that a slow machine gets more."""
    for number in range(60):
        status = attempt(number)
        if status == 429:
            return number
        assert status == 200
    return 60


def test_guesses_are_counted_by_an_address_that_nobody_can_choose(connect: Connect) -> None:
    guesser = connect(address="127.0.0.4")

    def attempt(number: int) -> int:
        spoofed = f"198.51.100.{number}"
        forwarding = {"X-Forwarded-For": spoofed, "X-Real-IP": spoofed, "Forwarded": f"for={spoofed}"}
        # Another account each time: an account has a counter of its own.
        return _post_sign_in(guesser, "wrong", f"nobody-{number}", **forwarding).status_code

    assert 20 <= _attempts_until_refused(attempt) < 60
    # It is the guesser's own address that was counted, not nginx's.
    assert _post_sign_in(connect(address="127.0.0.5"), PASSWORD).status_code == 302


def test_guessed_keys_are_counted_too(connect: Connect) -> None:
    """In all processes together; in each by itself, and so twice as many, while Redis is away."""
    guesser = connect("csk_" + "x" * 43, address="127.0.0.6")
    codes = [guesser.get(LIST, headers={"X-Forwarded-For": f"198.51.100.{n}"}).status_code for n in range(42)]
    assert codes[0] == 401
    assert codes[-1] == 429


def test_celery_does_what_is_queued(stack: Stack) -> None:
    stack.manage("registry", "revalidate")
    pattern = r"job \d+ revalidate done, try 1"
    wait_for(lambda: len(re.findall(pattern, stack.log("celery"))) >= 7, 30, "the check")


def test_redis_asks_for_the_password(stack: Stack) -> None:
    words = ["redis-cli", "-p", "6379", "ping"]
    done = subprocess.run(stack.command("redis", words), capture_output=True, text=True, check=False)
    assert "NOAUTH" in done.stdout + done.stderr
    assert stack.run("redis", words).stdout == "PONG\n"


def test_the_database_asks_for_the_password(stack: Stack) -> None:
    import psycopg

    url = stack.environment("worker")["DATABASE_URL"]
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(re.sub(r":[0-9a-f]+@", ":guessed@", url))


@pytest.mark.parametrize("service", ORDER)
def test_a_service_is_well_by_its_own_check(stack: Stack, service: str) -> None:
    assert stack.is_healthy(service)


def test_agents_have_as_many_processes_as_compose_says(stack: Stack) -> None:
    words = stack.services["web-agents"]["command"]
    (keeper,) = processes_below(stack.running["web-agents"].process.pid)[:1]
    helpers = (b"resource_tracker", b"capability_rules.validation.isolation")
    commands = {pid: _command_line(pid) for pid in processes_below(keeper)}
    below = [pid for pid, line in commands.items() if not any(helper in line for helper in helpers)]
    # The gateway, the application's main process, and its workers.
    assert len(below) - 2 == int(words[words.index("--workers") + 1]) == 1


def _is_there(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")  # noqa: PTH110 (proc)


def _command_line(pid: int) -> bytes:
    with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 (proc)
        return file.read()


def test_nobody_wrote_to_the_code(stack: Stack) -> None:
    """The root file system of the containers is read-only: what runs here as another user could not write either."""
    if stack.identity.uid is None:
        pytest.skip("needs root, to run the services as somebody else: sudo python3 run.py test --all")
    for service in ORDER:
        for pid in processes_below(stack.running[service].process.pid):
            assert owner_of(pid) == stack.identity.uid
    mine = [path for path in stack.cwd.rglob("*") if path.stat().st_uid == stack.identity.uid]
    assert not mine
    # Nor to DATA_DIR: with PostgreSQL, Redis and a SECRET_KEY there is nothing to keep.
    assert not list((stack.scratch / "data").iterdir())
    assert [path.name for path in (stack.scratch / "tmp").iterdir()] == ["alive"]


def test_nginx_logs_neither_queries_nor_share_tokens(stack: Stack, agent: httpx2.Client) -> None:
    agent.get("/share/a-secret-token/index.json")
    agent.get(f"{LIST}?group=what-somebody-wrote")
    log = stack.scratch / "nginx-tmp" / "access.log"
    wait_for(lambda: LIST in log.read_text(), 5, "the log")
    text = log.read_text()
    assert "a-secret-token" not in text
    assert "what-somebody-wrote" not in text
    assert re.search(rf'^127\.0\.0\.1 \[[^]]+\] "GET {LIST}" 200 .* [0-9a-f]{{32}}$', text, re.MULTILINE)


def test_a_browser_signs_in(stack: Stack, browser: Browser) -> None:
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text) if line.type in {"error", "warning"} else None)
    sign_in(page, stack.url, "olga", PASSWORD)
    assert page.url == f"{stack.url}/"
    assert page.get_by_text("Weight Tracking").count() >= 1
    page.locator("summary", has_text="Account").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{stack.url}/sign-in/")
    assert not said
    context.close()


def test_agents_are_answered_while_the_studio_is_away(stack: Stack, agent: httpx2.Client, connect: Connect) -> None:
    assert stack.stop("web-studio") == 0
    try:
        assert agent.get(f"{LOAD}?capability_id=weights").status_code == 200
        page = connect().get("/sign-in/")
        assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
        api = connect().get("/api/v1/operator/bundle_list")
        assert api.status_code == 503
        assert api.json()["error"]["code"] == "REGISTRY_UNAVAILABLE"
    finally:
        stack.start("web-studio")
    wait_for(lambda: connect().get("/sign-in/").status_code == 200, 20, "the Studio")


@pytest.fixture
def plain_nginx(stack: Stack) -> Iterator[str]:
    """nginx in its other mode, NGINX_MODE=http, with the page's own edge.conf; answers its origin."""
    command = stack.services["nginx"]["entrypoint"]
    stack.stop("nginx")
    edge = stack.scratch / "nginx" / "edge.conf"
    edge.write_text("set_real_ip_from 127.0.0.7;\nreal_ip_header X-Forwarded-For;\nreal_ip_recursive on;\n")
    stack.services["nginx"]["entrypoint"] = [word.replace("tls.conf", "http.conf") for word in command]
    try:
        stack.start("nginx")
        yield f"http://localhost:{stack.ports['http']}"
    finally:
        stack.stop("nginx")
        edge.unlink()
        stack.services["nginx"]["entrypoint"] = command
        stack.start("nginx")


def test_behind_something_that_speaks_https(stack: Stack, plain_nginx: str) -> None:
    """It is believed about scheme and client, and nobody else about the client."""

    def wrong_password(number: int, address: str) -> int:
        transport = httpx2.HTTPTransport(local_address=address)
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-For": f"198.51.100.{number}", "Host": stack.url[8:]}
        with httpx2.Client(base_url=plain_nginx, transport=transport, headers=headers) as client:
            page = client.get("/sign-in/")
            assert page.headers["Strict-Transport-Security"]
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            cookie = page.headers["Set-Cookie"].partition(";")[0]
            assert token is not None
            # Another account each time: an account has a counter of its own.
            form = {
                "csrfmiddlewaretoken": token[1],
                "username": f"nobody-{address}-{number}",
                "password": "wrong",
                "next": "",
            }
            # The client is inside and speaks plain HTTP, so it would keep a secure cookie to itself.
            said = {"Cookie": cookie, "Origin": stack.url, "Referer": f"{stack.url}/sign-in/"}
            return client.post("/sign-in/", data=form, headers=said).status_code

    assert [wrong_password(number, "127.0.0.7") for number in range(22)] == [200] * 22
    assert 20 <= _attempts_until_refused(lambda number: wrong_password(number, "127.0.0.8")) < 60


def test_every_service_ends_when_it_is_asked(stack: Stack) -> None:
    """Last of all. What begins no new work ends at once; every exit code is 0."""
    below = {service: processes_below(stack.running[service].process.pid) for service in ORDER}
    began = time.monotonic()
    stack.stop_all()
    assert {service: stack.exit_codes[service] for service in ORDER} == dict.fromkeys(ORDER, 0)
    assert time.monotonic() - began < 60
    # Processes that check bundles end when nobody is left who would ask them.
    for pids in below.values():
        wait_for(lambda pids=pids: not any(map(_is_there, pids)), 10, "the end of all that was started")
