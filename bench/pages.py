"""How long each list page of the Studio takes at 5,000 capabilities: in a warm process, and the first list of one.

    python bench/pages.py [--count 5000] [--rounds 15] [--folder FOLDER]

A busy registry (bench/busy.py) on SQLite, one web process, one admin who opens page after page. Prints a table.
`--folder` keeps the data directory, and takes one that is there.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from busy import PASSWORD
from measuring import PRODUCT, ROOT, Server, serve

LIMIT_MS = 200
PAGES = {
    "Home": "/",
    "Capabilities": "/capabilities/",
    "Capabilities, searched": "/capabilities/?q=bench+4711",
    "Capabilities, filtered and sorted": "/capabilities/?status=published&group=group_7&sort=-loads",
    "Capabilities, the last page": "/capabilities/?page=9999",
    "Compatibility": "/matrix/",
    "Skill groups": "/skill-groups/",
    "A skill group": "/skill-groups/group_7/",
    "Reviews": "/reviews/",
    "Reviews, all": "/reviews/?show=all",
    "Scheduled releases": "/releases/",
    "Proposals": "/proposals/",
    "Playground": "/playground/?m=bench+4711+please",
    "Demand, ids": "/demand/",
    "Demand, messages": "/demand/?what=messages",
    "Incidents": "/incidents/",
    "Feedback": "/feedback/",
    "Feedback on one": "/capabilities/bench_000/feedback/",
    "Usage, 30 days": "/usage/",
    "Usage, 365 days by key": "/usage/?by=key&days=365",
    "Teams": "/teams/",
    "A team": "/teams/1/",
    "Members": "/members/",
    "Keys": "/keys/",
    "Webhooks": "/webhooks/",
    "A webhook": "/webhooks/1/",
    "Audit log": "/audit/",
    "Audit log, filtered": "/audit/?who=person_007&verb=draft.save",
    "Release rules": "/settings/publishing/",
    "Overview": "/capabilities/bench_000/",
    "History": "/capabilities/bench_000/history/",
    "New capability, a copy": "/new-capability/copy/",
    "Command palette": "/palette/?q=bench+471",
}


class Browser:
    """Somebody who is signed in, and takes what a browser takes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https")))
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))

    def sign_in(self) -> None:
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self._text("/sign-in/"))
        assert found is not None
        given = {"csrfmiddlewaretoken": found[1], "username": "bench", "password": PASSWORD}
        if "bench" not in self._text("/sign-in/", urllib.parse.urlencode(given).encode()):
            raise SystemExit("nobody was signed in")

    def milliseconds(self, path: str) -> tuple[float, float]:
        """From the question to the last byte of the page, and what the server computed for it; of the second the sum
        over many is right, since it is counted in ticks of 10 ms."""
        spent, began = self._server.cpu_seconds(), time.perf_counter()
        self._text(path)
        return (time.perf_counter() - began) * 1000, (self._server.cpu_seconds() - spent) * 1000

    def _text(self, path: str, body: bytes | None = None) -> str:
        headers = {"Referer": self._server.url("/")}
        with self._opener.open(urllib.request.Request(self._server.url(path), body, headers), timeout=120) as answer:
            return str(answer.read().decode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        # By words alone: the rows were stored past the worker that makes vectors of new sentences.
        env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off", "EMBEDDER": "none"}
        env["KEEP_UNMATCHED_DAYS"] = "30"
        if not (folder / "studio.sqlite3").exists():
            script = [sys.executable, str(ROOT / "bench" / "busy.py"), str(options.count)]
            subprocess.run(script, env={**os.environ, **env}, check=True)
        with serve("product", PRODUCT, env, {}) as server:
            report(Browser(server), options.rounds)


def report(browser: Browser, rounds: int) -> None:
    """The first list, then each page: once to warm up, then round by round, so that a slow moment meets all of them."""
    browser.sign_in()
    first, second = (browser.milliseconds("/capabilities/") for _ in range(2))
    print(f"first list of the process: {first[0]:.0f} ms, {first[1]:.0f} of them CPU; the second: {second[0]:.0f} ms\n")
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in PAGES}
    for number in range(rounds + 1):
        for name, path in PAGES.items():
            milliseconds = browser.milliseconds(path)
            if number:
                taken[name].append(milliseconds)
    print("| page | p50, ms | slowest, ms | CPU, ms |\n| --- | ---: | ---: | ---: |")
    for name, figures in taken.items():
        walls, computed = zip(*figures, strict=True)
        p50 = statistics.median(walls)
        over = " (!)" if p50 > LIMIT_MS else ""
        print(f"| {name} | {p50:.0f}{over} | {max(walls):.0f} | {statistics.mean(computed):.0f} |")


if __name__ == "__main__":
    main()
