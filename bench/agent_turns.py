"""What a turn of a session costs besides the model, and what a session costs at 10,000 capabilities.

    python bench/agent_turns.py

CPU of a turn as a share of what serializing its requests as JSON takes, which every agent has to do; memory after 2,000
turns as a share of that after 1,000; a later session of a process as a share of the first. Prints Markdown.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from capability_client import (
    Bundle,
    CapabilityNotFound,
    Environment,
    Listing,
    ListingEntry,
    LocalSkills,
    Message,
    ModelCall,
    ModelReply,
    Session,
    SessionOptions,
    ToolCall,
    User,
)
from capability_client.session.options import Layout

EXAMPLES: Final = LocalSkills(Path(__file__).resolve().parent.parent / "examples")
MANY: Final = 10_000
HERE: Final = Environment(os="linux")


class Held:
    """A registry in memory that says what changed, as the real one does; nothing ever does."""

    def __init__(self, entries: Sequence[ListingEntry], bundles: dict[str, Bundle]) -> None:
        self._entries, self._bundles = tuple(entries), bundles

    def list(self, *, updated_since_revision: int | None = None) -> Listing:
        """All, or nothing."""
        return Listing(self._entries if updated_since_revision is None else (), 1)

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """One of the bundles."""
        if capability_id not in self._bundles:
            raise CapabilityNotFound(f"{capability_id} {digest}")
        return self._bundles[capability_id]

    def reload(self, capability_id: str) -> Bundle:
        """As `load`."""
        return self.load(capability_id)

    def match(self, message: str) -> dict[str, object]:
        """Nothing fits."""
        return {"decision": "none", "reason": message, "matches": [], "needed": [], "registry_revision": 1}


class Speaker:
    """A model that calls a tool in every other turn, and counts what serializing its requests takes."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, session: Session, messages: Sequence[Message]) -> ModelReply:
        """One step."""
        body = [session.prompt_parts().before, session.messages_for("openai"), session.tools("openai")]
        begun = time.process_time()
        json.dumps(body)
        self.seconds += time.process_time() - begun
        if messages[-1].role == "user" and session.number % 2:
            call = ModelCall(f"call_{session.number}", "weights__weight_entry_list", {})
            return ModelReply(calls=(call,))
        return ModelReply("It has been fine so far, and it will be fine tomorrow too.")


def measure_turns(layout: Layout) -> tuple[float, float, float]:
    """Milliseconds of CPU per turn without serializing, that as a share of serializing, and the growth of memory."""
    entries = EXAMPLES.list().entries
    bundles = {each.capability_id: EXAMPLES.load(each.capability_id) for each in entries}
    source, options = Held(entries, bundles), SessionOptions(layout=layout)
    session = _session(source, options)
    _run(session, 300)
    speaker, begun = Speaker(), time.process_time()
    for number in range(200):
        session.say(f"and on day {number}?", speaker, run=_run_tool, approve=bool)
    own = time.process_time() - begun - speaker.seconds
    tracemalloc.start()
    session = _session(source, options)
    _run(session, 1_000)
    before = _memory()
    _run(session, 1_000)
    growth = _memory() / before
    tracemalloc.stop()
    return own * 1_000 / 200, own / speaker.seconds, growth


def _session(source: Held, options: SessionOptions) -> Session:
    session = Session(source, user=User(name="Ada"), environment=HERE, options=options)
    for name in ("weights", "meals"):
        session.load(name)
    return session


def _run_tool(call: ToolCall) -> dict[str, object]:
    return {"entries": [], "of": call.tool}


def _run(session: Session, turns: int) -> None:
    speaker = Speaker()
    for number in range(turns):
        session.say(f"and on day {number}?", speaker, run=_run_tool, approve=bool)


def _memory() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def measure_session(source: Held) -> tuple[float, float]:
    """Milliseconds and kilobytes of a session and its first turn, without a prompt."""
    gc.collect()
    begun = time.process_time()
    session = Session(source, user=User(name="Ada"), environment=HERE)
    session.turn("hello")
    seconds = time.process_time() - begun
    tracemalloc.start()
    other = Session(source, user=User(name="Ada"), environment=HERE)
    other.turn("hello")
    kilobytes = _memory() / 1_000
    tracemalloc.stop()
    return seconds * 1_000, kilobytes


def main() -> None:
    """Measure and print."""
    print("| layout | CPU of a turn | as a share of serializing its requests | memory, 2,000 turns against 1,000 |")
    print("| --- | --- | --- | --- |")
    for layout in ("system", "append"):
        milliseconds, share, growth = measure_turns(layout)
        print(f"| {layout} | {milliseconds:.1f} ms | {share:.1f} | {growth:.2f} |")
    source = Held([ListingEntry(f"skill_{n}", f"Skill {n}", f"Does job {n}.", (f"job {n}",)) for n in range(MANY)], {})
    first, later = measure_session(source), measure_session(source)
    print(
        f"\nAt {MANY:,} capabilities: the first session of a process {first[0]:.0f} ms, a later one {later[0]:.1f} ms,"
    )
    print(f"{later[1]:.0f} kB and {later[0] / first[0]:.1%} of the first.")


if __name__ == "__main__":
    main()
