"""Publishers, a reporter and a reader, who note what was acknowledged."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator

from tests.faults.site import IDS, Site
from tests.faults.texts import bundle_texts


def publish_once(site: Site, chance: random.Random) -> None:
    """Publish a new revision of one of the ids, and note it where the answer came."""
    name = f"fault_{chance.randrange(IDS)}"
    files = bundle_texts(name, f"Answer number {chance.getrandbits(60)}.")
    answer = site.call("POST", "/api/v1/operator/bundle_publish", {"bundles": [{"files": files}]})
    with site.counts.lock:
        site.counts.statuses[f"publish {answer.status_code if answer is not None else 'cut'}"] += 1
        if answer is not None and answer.status_code == 200:
            for row in answer.json()["results"]:
                if row["status"] == "published":
                    site.counts.acknowledged[row["capability_id"], row["revision"]] = row["digest"]


def report_once(site: Site, chance: random.Random) -> None:
    """Feedback under an idempotency key, sent until it is answered: it must count once."""
    name, key = f"fault_{chance.randrange(IDS)}", f"{chance.getrandbits(80):x}"
    for _ in range(40):
        answer = site.call(
            "POST",
            "/api/v1/capability_feedback",
            {"capability_id": name, "outcome": "used"},
            **{"Idempotency-Key": key},
        )
        if answer is not None and answer.status_code in (200, 404):
            if answer.status_code == 200:
                with site.counts.lock:
                    site.counts.feedback.add(answer.json()["event_id"])
            return
        time.sleep(0.25)


def read_once(site: Site, chance: random.Random) -> None:
    """A list or a load; counted by status, with a mark where the answer says that it is stale."""
    what, path = "list", "/api/v1/capability_registry_list"
    if chance.random() < 0.7:
        what, path = "load", f"/api/v1/capability_skill_load?capability_id=fault_{chance.randrange(IDS)}"
    answer = site.call("GET", path)
    word = "cut" if answer is None else f"{answer.status_code}{' stale' if 'Warning' in answer.headers else ''}"
    with site.counts.lock:
        site.counts.statuses[f"{what} {word}"] += 1
    time.sleep(0.01)


@contextlib.contextmanager
def clients(site: Site, seed: int, *, writers: int = 2, pause: float = 0) -> Iterator[None]:
    """Publishers, a reporter and a reader, until the block ends; `pause` is seconds between two calls of one client."""
    end = threading.Event()

    def run(step: Callable[[Site, random.Random], None], number: int) -> None:
        chance = random.Random(seed * 100 + number)
        while not end.is_set():
            step(site, chance)
            end.wait(pause)

    steps = [*[publish_once] * writers, report_once, read_once]
    threads = [threading.Thread(target=run, args=(step, n), daemon=True) for n, step in enumerate(steps)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join(60)
