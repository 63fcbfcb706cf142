"""What one `capability_match` over HTTP costs in the product as users start it, and what memory its processes take.

    python bench/match_requests.py FOLDER [--sizes 150 1000 10000] [--seconds 10] [--embedder minilm]
        [--database postgresql://...] [--before OTHER_TREE] [--rounds 1] [--keep DATA] [--json FILE]

FOLDER holds CLINC150 and BANKING77 as bench/matching.py reads them. A registry of each size has their intents, several
times where they are fewer, with five sentences each (two past 1,000), and all vectors and the classifier are made. Then
`python3 run.py` is started as a user does, and asked sentences of the test split, each once: the first one as soon as
the address answers, then by one client and by eight, alone and beside two processes that spin. CPU is that of all
processes of the product together, those of the idle product taken off; of PostgreSQL nothing is counted. With
`--before` a second tree, of another commit, takes turns with this one on copies of the same data. `--database` names a
server where databases may be made; else it is SQLite. `--keep` keeps what was filled for the next run. Each registry is
filled by the older tree. Needs Linux.
"""

from __future__ import annotations

import argparse
import csv
import http.client
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from measuring import Server, family, free_port, proportional_megabytes, spinning
from product import run_product

SEED: Final = 0
CLIENTS: Final = 8
PATH: Final = "/api/v1/capability_match"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[150, 1000, 10_000])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--database", default="")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    trees = {"before": options.before.resolve()} if options.before else {}
    trees |= {"now": HERE.parent}
    messages = _read_messages(options.folder)
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-match-") as scratch:
        for size in options.sizes:
            filled = _fill_in_process(options, size, next(iter(trees.values())), options.keep or Path(scratch))
            for _ in range(options.rounds):
                for name, tree in trees.items():
                    row = {"tree": name, "size": size, "embedder": options.embedder}
                    row["commit"] = _commit(tree)
                    row["database"] = "postgresql" if options.database else "sqlite"
                    copied = _copy(options, filled, Path(scratch) / "data")
                    rows.append(row | _measure(tree, copied, messages, options.seconds))
                    print(json.dumps(rows[-1]), flush=True)
                    if options.json:
                        options.json.write_text("[\n" + ",\n".join(f" {json.dumps(one)}" for one in rows) + "\n]\n")


def _commit(tree: Path) -> str:
    command = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _read_messages(folder: Path) -> list[str]:
    rows = csv.DictReader((folder / "clinc150_utterances.csv").open())
    messages = sorted({row["text"] for row in rows if row["source_split"] in ("test", "oos_test")})
    random.Random(SEED).shuffle(messages)
    return messages


def _fill_in_process(options: argparse.Namespace, size: int, tree: Path, folder: Path) -> dict[str, str]:
    """The environment of a registry with so many capabilities, all vectors and the classifier."""
    data = folder / f"{size}-{options.embedder}-{'postgresql' if options.database else 'sqlite'}"
    env = {"DATA_DIR": str(data), "EMBEDDER": options.embedder, "EXAMPLES": "off", "RATE_LIMITS": "off"}
    if options.database:
        env["DATABASE_URL"] = f"{options.database}/bench_match_{size}_{options.embedder}"
        # Without these it does not start with a database of its own.
        env |= {"SECRET_KEY": "of-the-bench-alone-" * 3, "ALLOWED_HOSTS": "127.0.0.1"}
    if not (data / "key").exists():
        shutil.rmtree(data, ignore_errors=True)
        _make_database(options, env)
        command = [str(tree / ".venv/bin/python"), str(Path(__file__).resolve()), "--fill", str(options.folder)]
        more = {"PYTHONPATH": str(tree), "DJANGO_SETTINGS_MODULE": "studio.settings"}
        subprocess.run([*command, str(size)], check=True, env={**os.environ, **env, **more}, cwd=tree)
    return env


def _copy(options: argparse.Namespace, filled: dict[str, str], folder: Path) -> dict[str, str]:
    """The same of a copy, so that no run changes what the next one begins with."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(filled["DATA_DIR"], folder)
    copied = filled | {"DATA_DIR": str(folder)}
    if options.database:
        copied["DATABASE_URL"] = f"{options.database}/bench_match_copy"
        _make_database(options, copied, filled["DATABASE_URL"].rpartition("/")[2])
    return copied


def _make_database(options: argparse.Namespace, env: dict[str, str], template: str = "template0") -> None:
    if not options.database:
        return
    import psycopg

    name = env["DATABASE_URL"].rpartition("/")[2]
    with psycopg.connect(f"{options.database}/postgres", autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())


def _measure(tree: Path, env: dict[str, str], messages: list[str], seconds: float) -> dict[str, Any]:
    """What the product in a tree costs."""
    asked = iter(messages)
    # The first start of all prepares the database and unpacks the model.
    with _product(tree, env) as server:
        _ask(server, [next(asked)])
    began = time.monotonic()
    with _product(tree, env) as server:
        row: dict[str, Any] = {"answers_after_ms": round((time.monotonic() - began) * 1000)}
        row["first_match_ms"] = round(_ask(server, [next(asked)])[0], 1)
        row["second_match_ms"] = round(_ask(server, [next(asked)])[0], 1)
        _ask(server, [*islice(asked, 20)])
        # What the worker does after a start ends first, and what warms up beside the first answers.
        idle = next((cores for cores in (_idle_cores(server) for _ in range(40)) if cores < 0.1), 1.0)
        row["idle_cpu_percent"] = round(100 * idle, 1)
        for clients in (1, CLIENTS):
            row |= _load(server, asked, clients, seconds, idle)
        with spinning(2):
            row |= {f"{name}_busy": value for name, value in _load(server, asked, 1, seconds, idle).items()}
        again = next(asked)
        _ask(server, [again])
        before = server.cpu_seconds()
        times = _ask(server, [again] * 50)
        row["again_cpu_ms"] = round((server.cpu_seconds() - before) * 1000 / 50, 2)
        row["again_p50_ms"] = round(statistics.median(times), 2)
        row |= _memory(server)
    return row | {"load_average": round(os.getloadavg()[0], 1)}


@contextmanager
def _product(tree: Path, env: dict[str, str]) -> Iterator[Server]:
    """The product, whose clients send the key of what was filled."""
    port = free_port()
    headers = {"Authorization": f"Bearer {Path(env['DATA_DIR'], 'key').read_text()}"}
    with run_product(tree, port, {**os.environ, **env, "PORT": str(port)}) as process:
        yield Server("product", port, process, headers)


def _ask(server: Server, messages: list[str]) -> list[float]:
    """The milliseconds of each, one after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    headers = {**server.headers, "Content-Type": "application/json"}
    found = []
    for message in messages:
        began = time.perf_counter()
        connection.request("POST", PATH, json.dumps({"message": message}), headers)
        answer = connection.getresponse()
        body = answer.read()
        found.append((time.perf_counter() - began) * 1000)
        if answer.status != 200:
            raise SystemExit(f"{answer.status} {body[:200]!r}")
    connection.close()
    return found


def _idle_cores(server: Server) -> float:
    before, began = server.cpu_seconds(), time.monotonic()
    time.sleep(3)
    return (server.cpu_seconds() - before) / (time.monotonic() - began)


def _load(server: Server, messages: Iterator[str], clients: int, seconds: float, idle: float) -> dict[str, Any]:
    """So many clients, each asking as fast as it is answered, for so long."""
    times: list[float] = []
    lock = threading.Lock()
    until = time.monotonic() + seconds

    def ask() -> None:
        while time.monotonic() < until:
            with lock:
                some = [*islice(messages, 5)]
            if not some:
                raise SystemExit("too few messages: fewer seconds")
            times.extend(_ask(server, some))

    before, began = server.cpu_seconds(), time.monotonic()
    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.monotonic() - began
    spent = server.cpu_seconds() - before - idle * elapsed
    times.sort()
    name = "one" if clients == 1 else "eight"
    return {
        f"{name}_cpu_ms": round(spent * 1000 / len(times), 2),
        f"{name}_p50_ms": round(times[len(times) // 2], 1),
        f"{name}_p95_ms": round(times[int(len(times) * 0.95)], 1),
        f"{name}_per_second": round(len(times) / elapsed, 1),
    }


def _memory(server: Server) -> dict[str, Any]:
    """PSS of the largest process, which has the match index, and of all."""
    each = [*map(proportional_megabytes, family(server.process.pid))]
    return {"index_process_pss_mb": round(max(each)), "all_pss_mb": round(sum(each))}


def fill(folder: Path, size: int) -> None:
    """In a process of its own, whose settings name the directory and whose path the tree."""
    import bundles
    import fill as filling
    from django.conf import settings
    from django.core.management import call_command
    from django.utils import timezone

    from registry.access import agent_keys
    from registry.common.actors import SYSTEM
    from registry.core.jobs.queue import OPEN
    from registry.core.transactions import write_transaction
    from registry.matching.training_job import KIND, queue_training
    from registry.models import Job

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    intents = _read_intents(folder)
    each = 5 if size <= 1000 else 2

    def bundle(number: int, tools: int) -> dict[str, bytes | str]:
        files, (name, triggers, sentences) = plain(number, tools), intents[number % len(intents)]
        turn = number // len(intents)
        facts = json.loads(files["capability.json"])
        facts["name"] = f"{name} {turn + 1}" if turn else name
        facts["description"] = f"For messages such as: {sentences[(7 * turn) % len(sentences)]}."
        facts["intent_triggers"] = [f"{one} {turn + 1}" if turn else one for one in triggers] or [name.lower()]
        chosen = [sentences[(each * turn + at) % len(sentences)] for at in range(each)]
        facts["utterances"] = {"should_match": list(dict.fromkeys(chosen))}
        return files | {"capability.json": json.dumps(facts)}

    plain = bundles.bundle
    vars(filling)["bundle"] = bundle
    filling.store_in_bulk(range(size))
    key = agent_keys.create_key(name="bench", by=SYSTEM, scopes=agent_keys.SCOPES)[1]
    with write_transaction():
        queue_training()
    while Job.objects.filter(kind=KIND, state__in=OPEN).update(run_after=timezone.now()):
        call_command("worker", once=True)
    Path(settings.DATA_DIR, "key").write_text(key)


def _read_intents(folder: Path) -> list[tuple[str, list[str], list[str]]]:
    """Name, triggers and training sentences of each intent."""
    found = []
    for name in ("clinc150", "banking77"):
        sentences = defaultdict(list)
        for row in csv.DictReader((folder / f"{name}_utterances.csv").open()):
            if row["source_split"] == "train":
                sentences[row["capability_id"]].append(row["text"])
        for line in (folder / f"{name}_capabilities.jsonl").read_text().splitlines():
            one = json.loads(line)
            own = sorted(sentences[one["capability_id"]])
            random.Random(SEED).shuffle(own)
            found.append((one["name"], one.get("suggested_triggers", []), own))
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--fill":
        import django

        django.setup()
        fill(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
