"""Clients that keep a registry busy until they are killed: `python bench/neighbors.py PORT KEY KIND...`.

Each KIND is a client in a thread of its own that asks again as soon as it is answered. Prints a line when each kind was
answered once, and at SIGTERM what was answered since, as JSON.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import signal
import sys
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable
from types import FrameType

from bundles import bundle

Call = Callable[[http.client.HTTPConnection, dict[str, str], int], int]
COUNTS: Counter[str] = Counter()
NUMBERS = itertools.count(os.getpid() * 1000)


def _ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> int:
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _schema(connection: http.client.HTTPConnection, key: dict[str, str], _: int) -> int:
    return _ask(connection, "GET", "/api/v1/schema", None, key)


def _reload(connection: http.client.HTTPConnection, key: dict[str, str], _: int) -> int:
    headers = {**key, "Content-Type": "application/json"}
    return _ask(connection, "POST", "/api/v1/capability_skill_reload", b'{"capability_id": "bench_001"}', headers)


def _unknown(connection: http.client.HTTPConnection, key: dict[str, str], number: int) -> int:
    return _ask(connection, "GET", f"/api/v1/capability_skill_load?capability_id=unknown_{number}", None, key)


def _match(connection: http.client.HTTPConnection, key: dict[str, str], number: int) -> int:
    body = json.dumps({"message": f"please measure number {number}"}).encode()
    return _ask(connection, "POST", "/api/v1/capability_match", body, {**key, "Content-Type": "application/json"})


def _publish(connection: http.client.HTTPConnection, key: dict[str, str], number: int) -> int:
    files = bundle(number, 8)
    body = json.dumps({"bundles": [{"path": f"bench_{number}", "files": files}]}).encode()
    headers = {**key, "Content-Type": "application/json", "Idempotency-Key": f"bench-{number}"}
    return _ask(connection, "POST", "/api/v1/operator/bundle_publish", body, headers)


def _sign_in(connection: http.client.HTTPConnection, _: dict[str, str], number: int) -> int:
    """A page, then a wrong password, which is hashed all the same."""
    connection.request("GET", "/sign-in/")
    answer = connection.getresponse()
    page = answer.read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    if token is None:
        return answer.status
    cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
    fields = {"csrfmiddlewaretoken": token[1], "username": f"nobody_{number}", "password": "wrong"}
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    return _ask(connection, "POST", "/sign-in/", urllib.parse.urlencode(fields).encode(), headers)


KINDS: dict[str, Call] = {
    "schema": _schema,
    "reload": _reload,
    "unknown": _unknown,
    "match": _match,
    "publish": _publish,
    "sign_in": _sign_in,
}


def _client(kind: str, port: int, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            while True:
                COUNTS[f"{kind} {KINDS[kind](connection, headers, next(NUMBERS))}"] += 1
        except (OSError, http.client.HTTPException) as error:
            COUNTS[f"{kind} {type(error).__name__}"] += 1


def main(port: int, key: str, kinds: list[str]) -> None:
    def stop(_number: int, _frame: FrameType | None) -> None:
        print(json.dumps(dict(COUNTS)), flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    for kind in kinds:
        threading.Thread(target=_client, args=(kind, port, key), daemon=True).start()
    while {name.split()[0] for name in list(COUNTS)} != set(kinds):
        time.sleep(0.01)
    COUNTS.clear()
    print("ready", flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
