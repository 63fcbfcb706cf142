"""How long it takes from the click on a link until the next page is painted, in Chromium.

    python bench/page_to_page.py [--count 300] [--rounds 10] [--folder FOLDER] [--json FILE]

A busy registry (bench/busy.py) on SQLite, one web process, one admin who walks from page to page as `WALK` says. Each
link is clicked twice a round, interleaved: at once, and after the pointer has rested on it (where the browser fetches
ahead). Prints medians and quartiles; `--json` keeps every figure.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from busy import PASSWORD
from measuring import PRODUCT, ROOT, serve
from playwright.sync_api import Page, sync_playwright

# Where the walk begins, and the address of each link that is clicked; ID is the first capability of the list.
START: Final = "/"
WALK: Final = (
    "/capabilities/",
    "/capabilities/ID/",
    "/capabilities/ID/history/",
    "/capabilities/ID/tools/",
    "/reviews/",
    "/usage/",
    "/demand/",
    "/incidents/",
    "/sources/",
    "/",
)
HOVER_MS: Final = 300
FLAGS: Final = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"]
CLOCK: Final = "performance.timeOrigin + performance.now()"
CLICK: Final = f"link => {{ localStorage.setItem('clicked', {CLOCK}); link.click(); }}"
# The new page is there, nothing is being fetched, and two frames were drawn.
THERE: Final = """path => location.pathname === path && document.readyState === "complete"
    && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")
    && document.documentElement.dataset.walked !== location.pathname"""
PAINTED: Final = f"""() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {{
    document.documentElement.dataset.walked = location.pathname;
    done({CLOCK} - Number(localStorage.getItem("clicked")));
}})))"""


def walk(page: Page, base: str, *, hovers: bool) -> dict[str, float]:
    """Milliseconds by the address that was reached."""
    page.goto(base + START)
    page.evaluate("document.documentElement.dataset.walked = location.pathname")
    taken = {}
    shown = ""
    for name in WALK:
        if "ID" in name:
            shown = shown or str(page.locator("main tbody a[href^='/capabilities/']").first.get_attribute("href"))
        path = name.replace("/capabilities/ID/", shown)
        link = page.locator(f'a[href="{path}"]:not([data-open-palette]):visible').first
        if hovers:
            link.hover()
            page.wait_for_timeout(HOVER_MS)
        link.evaluate(CLICK)
        page.wait_for_function(THERE, arg=path)
        taken[name] = float(page.evaluate(PAINTED))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        env = {"DATA_DIR": str(folder), "EXAMPLES": "off", "RATE_LIMITS": "off", "EMBEDDER": "none"}
        if not (folder / "studio.sqlite3").exists():
            script = [sys.executable, str(ROOT / "bench" / "busy.py"), str(options.count)]
            subprocess.run(script, env={**os.environ, **env}, check=True)
        with serve("product", PRODUCT, env, {}) as server:
            figures = measure(server.url(""), options.rounds)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    report(figures)


def measure(base: str, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of each round by how the link was clicked and by address; a first walk warms up."""
    figures: dict[str, dict[str, list[float]]] = {"at once": {}, "rested on": {}}
    names = ("chromium-headless-shell", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=next(filter(None, map(shutil.which, names))), args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        sign_in(page, base)
        walk(page, base, hovers=False)
        for _ in range(rounds):
            for how, hovers in (("at once", False), ("rested on", True)):
                for path, milliseconds in walk(page, base, hovers=hovers).items():
                    figures[how].setdefault(path, []).append(milliseconds)
        browser.close()
    return figures


def sign_in(page: Page, base: str) -> None:
    page.goto(f"{base}/sign-in/")
    page.fill("[name=username]", "bench")
    page.fill("[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url(f"{base}/")


def report(figures: dict[str, dict[str, list[float]]]) -> None:
    print("| page | at once, ms (quartiles) | rested on, ms (quartiles) |\n| --- | ---: | ---: |")
    for path in WALK:
        print(f"| {path} | {_quartiles(figures['at once'][path])} | {_quartiles(figures['rested on'][path])} |")
    every = (_quartiles([ms for each in figures[how].values() for ms in each]) for how in ("at once", "rested on"))
    print(f"| all | {' | '.join(every)} |")


def _quartiles(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


if __name__ == "__main__":
    main()
