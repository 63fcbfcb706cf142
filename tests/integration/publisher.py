"""`publisher.py COUNT` publishes so many revisions of one capability, half a second apart; `publisher.py revoke NAME`
ends a key. Prints when each was committed, by the wall clock that the tests read too."""

# ruff: noqa: E402 (Django is set up before its models can be imported)

from __future__ import annotations

import json
import os
import sys
import time

os.environ["DJANGO_SETTINGS_MODULE"] = "studio.settings"

import django

django.setup()

from capability_rules.validation.isolation import pool

# Bundles of our own: a process to check them in takes longer to start than all else here.
pool.use_processes(0)

from registry.access import agent_keys
from registry.publishing import publication
from tests.factories import OLGA, bundle


def main() -> None:
    if sys.argv[1] == "revoke":
        agent_keys.revoke_key(name=sys.argv[2], by=OLGA)
        print(json.dumps({"revoked": time.time()}))
        return
    committed = {}
    for number in range(int(sys.argv[1])):
        outcome = publication.publish(files=bundle("fresh", body=f"Number {number}."), by=OLGA)
        committed[str(outcome.revision)] = time.time()
        time.sleep(0.5)
    print(json.dumps(committed))


if __name__ == "__main__":
    main()
