"""`publisher.py publish COUNT` publishes so many revisions of one capability, half a second apart; `revoke NAME` ends a
key. Prints when each was committed, by the wall clock that the tests read too."""

from __future__ import annotations

import time

from tests.integration import desk  # isort: split

from registry.access import agent_keys
from registry.publishing import publication
from tests.factories import OLGA, bundle


def revoke(name: str) -> dict[str, float]:
    agent_keys.revoke_key(name=name, by=OLGA)
    return {"revoked": time.time()}


def publish(count: str) -> dict[str, float]:
    committed = {}
    for number in range(int(count)):
        outcome = publication.publish(files=bundle("fresh", body=f"Number {number}."), by=OLGA)
        committed[str(outcome.revision)] = time.time()
        time.sleep(0.5)
    return committed


if __name__ == "__main__":
    desk.run(revoke, publish)
