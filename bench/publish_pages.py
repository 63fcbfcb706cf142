"""What the pages for publishing and reviewing a first release cost: `python bench/publish_pages.py --rounds 15`.

The product as users start it (`python3 run.py`) with `--count` capabilities, and a draft with three tools that was
never published. Prints a line of JSON a page: milliseconds of CPU in all processes of the server, and by the clock, as
quartiles and the least; pages that were there before stand beside them.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import os
import re
import statistics
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from bulk_publish import write_folder
from bundles import new_bundle
from product import ROOT, Product, start_product

PASSWORD = "correct horse battery staple"


class Browser:
    """Somebody who is signed in."""

    def __init__(self, product: Product) -> None:
        self._address = f"http://127.0.0.1:{product.port}"
        jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(secure_protocols=("http", "https")))
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))

    def get(self, path: str) -> str:
        return self._open(path)[1]

    def send(self, page: str, path: str, fields: dict[str, str]) -> str:
        """Send a form of a page; the address that it leads to."""
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.get(page))
        assert found is not None
        return self._open(path, urllib.parse.urlencode({"csrfmiddlewaretoken": found[1], **fields}).encode())[0]

    def _open(self, path: str, body: bytes | None = None) -> tuple[str, str]:
        request = urllib.request.Request(self._address + path, body, {"Referer": self._address + "/"})
        with self._opener.open(request, timeout=120) as answer:
            return answer.url, answer.read().decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    with start_product(options.database, root=options.root.resolve()) as product:
        browser, draft = prepare(product, options.count)
        at = f"/capabilities/{draft}/"
        page = browser.get(f"{at}publish/")
        version = re.search(r'name="draft_version" value="(\d+)"', page)
        assert version is not None
        fields = {"draft_version": version[1], "note": "bench"}
        review = urllib.parse.urlsplit(browser.send(f"{at}publish/", f"{at}publish/review/", fields)).path
        pages = {"publish": f"{at}publish/", "review": review, "overview": at, "list": "/capabilities/", "home": "/"}
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in pages}
        for number in range(options.rounds + 2):
            for name, path in pages.items():
                spent, began = sum(product.cpu_seconds().values()), time.perf_counter()
                browser.get(path)
                wall = time.perf_counter() - began
                # What ends a request (counts, the snapshot's poll) is not the page's; ticks of 10 ms even out.
                cpu = sum(product.cpu_seconds().values()) - spent
                if number > 1:
                    figures[name].append((cpu * 1000, wall * 1000))
        for name, values in figures.items():
            cpu_ms, wall_ms = zip(*values, strict=True)
            row = {"page": name, "cpu_ms_mean": round(statistics.mean(cpu_ms), 1), "wall_ms_least": round(min(wall_ms))}
            row["wall_ms"] = [round(value) for value in statistics.quantiles(wall_ms, n=4)]
            named = {"database": options.database, "root": options.root.name, "capabilities": options.count}
            print(json.dumps({**named, **row, "load": os.getloadavg()[0]}))


def prepare(product: Product, count: int) -> tuple[Browser, str]:
    """Publish so many, make the draft and sign in; the browser and the draft's id."""
    with tempfile.TemporaryDirectory(prefix="bench-folders-") as folder:
        for number in range(count):
            write_folder(Path(folder), number)
        product.manage("bundle", "publish", folder, "--format", "json", check=False)
    files = {name: str(text) for name, text in new_bundle(count + 1, tools=3).items()}
    facts = json.loads(files["capability.json"])
    facts["intent_triggers"] = ["freeze a card", "card was stolen"]
    messages = ["please freeze my card", "my card was stolen yesterday", "block the card of my wife"]
    facts["utterances"] = {"should_match": messages, "should_not_match": ["order a new card"]}
    files["capability.json"] = json.dumps(facts)
    with tempfile.TemporaryDirectory(prefix="bench-draft-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text, "utf-8")
        product.manage("bundle", "import", folder)
    product.wait_until_idle()
    product.manage("operator", "create", "bench", "--role", "admin", "--password-stdin", given=PASSWORD)
    browser = Browser(product)
    browser.send("/sign-in/", "/sign-in/", {"username": "bench", "password": PASSWORD})
    return browser, facts["capability_id"]


if __name__ == "__main__":
    main()
