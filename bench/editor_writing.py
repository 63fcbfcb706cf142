"""How quickly the instructions are drawn and typed in, in Chromium; and whether texts keep their bytes.

    python bench/editor_writing.py [--letters 200] [--corpus FOLDER]

A draft with 80 tools and 40 KB of instructions on SQLite, one web process. `drawn` is from the click on *Instructions*
until two frames were painted, where Details were open; `opened` from the request of the page that begins with them,
with the longest task of the browser meanwhile; `typing` is from the key until the next frame is done. With `--corpus`,
each SKILL.md below FOLDER is put into a draft, a letter typed at a place drawn with a fixed seed and deleted again, and
saved: prints those whose stored text differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from measuring import PRODUCT, ROOT, serve
from playwright.sync_api import Page, sync_playwright

PASSWORD: Final = "quiet-lantern-over-27-rivers"
FLAGS: Final = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"]
TOOLS: Final = 80
BYTES: Final = 40_000
WATCH: Final = """
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)))
        .observe({ type: "longtask", buffered: true });
    window.pauses = [];
    addEventListener("keydown", () => {
        const began = performance.now();
        requestAnimationFrame(() => setTimeout(() => window.pauses.push(performance.now() - began)));
    }, true);
"""
DRAWN: Final = """() => new Promise((done) => {
    const began = performance.now();
    document.querySelector("#outline a.outline__head[data-file='skill.md']").click();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
})"""
OPENED: Final = """() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
PUT: Final = "(area, text) => { area.value = text; area.dispatchEvent(new Event('input', { bubbles: true })); }"
# The caret at a place of the text, as a click puts it there.
CARET: Final = """(content, at) => { const view = content.cmTile?.view ?? content.cmView?.view;
    view.dispatch({ selection: { anchor: at }, scrollIntoView: true }); view.focus(); }"""
STORED: Final = """async () => {
    const text = await (await fetch(location.pathname)).text();
    return new DOMParser().parseFromString(text, "text/html").querySelector("#skill_md").value;
}"""
DOCUMENT: Final = "#panel-skill_md .cm-content"


def _tools() -> str:
    arguments = {f"a{n}": {"type": "string", "description": f"The argument {n}."} for n in range(4)}
    schema = {"type": "object", "properties": arguments, "required": ["a0"], "additionalProperties": False}
    tools = [
        {"name": f"thing_{n}_get", "description": f"Reads {n}.", "args_schema": schema, "policy": {"kind": "read"}}
        for n in range(TOOLS)
    ]
    return json.dumps(tools, indent=2)


def _text() -> str:
    """Of each construct, with a chip in each paragraph."""
    parts = ["# Many tools\n"]
    while sum(map(len, parts)) < BYTES:
        n = len(parts) % TOOLS
        parts.append(
            f"## Section {len(parts)}\n\nCall `thing_{n}_get` where **it matters**, "
            f"see [it](https://x.example/{n}).\n\n"
            f"1. First, with `thing_{n}_get(a0=1)`\n2. Second\n   - nested\n\n"
            f"| A | B |\n| --- | --- |\n| {n} | `x` |\n\n"
            f"> A quote\n\n```\ncode {n}\n```\n\n"
            f"**User:** Say {n}\n**Agent:** calls `thing_{n}_get(a0=1)`, then says it.\n\n"
        )
    return "\n".join(parts)


def _put(page: Page, name: str, text: str) -> None:
    page.locator(f"#{name}").evaluate(PUT, text)


def _save(page: Page) -> None:
    with page.expect_response("**/draft/save/"):
        page.locator("[data-save]").click()
    page.locator(".save-words", has_text="Saved just now").wait_for()


def _open(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#outline a")


def measure(page: Page, address: str, letters: int) -> dict[str, float]:
    """Milliseconds."""
    _open(page, address)
    _put(page, "tools_json", _tools())
    _put(page, "skill_md", _text())
    _save(page)
    page.add_init_script(WATCH)
    _open(page, f"{address}?file=capability.json")
    page.wait_for_timeout(1500)
    drawn = page.evaluate(DRAWN)
    _open(page, address)
    opened = page.evaluate(OPENED)
    page.wait_for_timeout(1500)
    loading = max(page.evaluate("window.tasks"), default=0)
    page.locator(DOCUMENT).evaluate(CARET, BYTES // 2)
    page.evaluate("window.pauses = []; window.tasks = []")
    for number in range(letters):
        page.keyboard.type("words "[number % 6])
        page.wait_for_timeout(60)
    pauses = sorted(page.evaluate("window.pauses"))
    return {
        "opened": opened,
        "drawn": drawn,
        "longest task while it opens": loading,
        "longest task while typing": max(page.evaluate("window.tasks"), default=0),
        "typing, p50": statistics.median(pauses),
        "typing, p95": pauses[int(0.95 * len(pauses))],
    }


def find_changed(page: Page, address: str, folder: Path) -> tuple[int, list[str]]:
    """How many texts were tried, and those whose bytes a letter that was typed and deleted again has changed."""
    dice = random.Random(49)
    paths = sorted(path for path in folder.rglob("*") if path.name.lower() == "skill.md")
    changed = []
    _open(page, address)
    _put(page, "tools_json", "[]")
    for path in paths:
        # A text area, and the server, know one end of a line.
        text = path.read_text("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        _put(page, "skill_md", text)
        page.locator("#outline a.outline__head[data-file='skill.md']").click()
        page.locator(DOCUMENT).evaluate(CARET, dice.randrange(len(text) + 1))
        page.keyboard.press("x")
        typed = page.evaluate("document.querySelector('[name=skill_md]').value")
        page.keyboard.press("Backspace")
        _save(page)
        if page.evaluate(STORED) != text or typed == text:
            changed.append(str(path.relative_to(folder)))
    return len(paths), changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--letters", type=int, default=200)
    parser.add_argument("--corpus", type=Path)
    options = parser.parse_args()
    names = ("chromium-headless-shell", "chromium")
    with tempfile.TemporaryDirectory() as folder:
        env = {"DATA_DIR": folder, "EXAMPLES": "on", "RATE_LIMITS": "off", "EMBEDDER": "none"}
        for command in (["prepare_site"], ["operator", "create", "bench", "--role", "publisher", "--password-stdin"]):
            script = [sys.executable, str(ROOT / "manage.py"), *command]
            subprocess.run(
                script, env={**os.environ, **env}, input=PASSWORD, text=True, check=True, capture_output=True
            )
        with serve("product", PRODUCT, env, {}) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=next(filter(None, map(shutil.which, names))), args=FLAGS
            )
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script("try { localStorage.setItem('autosave', 'off'); } catch {}")
            page.on("dialog", lambda dialog: dialog.accept())
            page.goto(server.url("/sign-in/"))
            page.fill("[name=username]", "bench")
            page.fill("[name=password]", PASSWORD)
            page.click("main button[type=submit]")
            page.wait_for_url(server.url("/"))
            address = server.url("/capabilities/weights/edit/")
            if options.corpus:
                count, changed = find_changed(page, address, options.corpus)
                print(f"{count} texts, {len(changed)} with other bytes", *changed, sep="\n")
            else:
                for name, value in measure(page, address, options.letters).items():
                    print(f"{name:40} {value:8.1f} ms")
            browser.close()


if __name__ == "__main__":
    main()
