"""What a model has to read, by how many capabilities the registry holds: `python bench/prompt_size.py`.

The same conversation each time: weights of examples/ is asked for and loaded, beside 9, 149, 999 and 9,999 others that
are published too. Prints Markdown; tokens are capability_client's own estimate (prompt.py).
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_client import Environment, Session
from capability_client.client.local_registry import LocalSkills
from capability_kit.bundles.bundle import Listing

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
COUNTS = (10, 150, 1_000, 10_000)


class Library(LocalSkills):
    """The examples, and so many others that only the list tells of."""

    def __init__(self, count: int) -> None:
        super().__init__(EXAMPLES)
        self.count = count

    def list(self) -> Listing:
        """The list of a registry with `count` capabilities."""
        listing = super().list()
        model = next(entry for entry in listing.entries if entry.capability_id == "meals")
        others = (
            replace(model, capability_id=f"other_{n}", name=f"Other {n}", intent_triggers=(f"errand {n}", f"chore {n}"))
            for n in range(self.count - len(listing.entries))
        )
        return replace(listing, entries=(*listing.entries, *others))


def main() -> None:
    print("| capabilities | for the conversation | for the turn | a turn takes |\n| ---: | ---: | ---: | ---: |")
    for count in COUNTS:
        session = Session(Library(count), environment=Environment())
        session.turn("hello")
        began = time.perf_counter()
        session.turn("I just weighed 187.6 lbs")
        seconds = time.perf_counter() - began
        session.load("weights")
        system, prompt = session.system_prompt(), session.prompt()
        print(
            f"| {count:,} | {system.characters:,} characters, {system.tokens_estimate:,} tokens "
            f"| {prompt.characters:,} characters, {prompt.tokens_estimate:,} tokens | {1000 * seconds:.2f} ms |"
        )


if __name__ == "__main__":
    main()
