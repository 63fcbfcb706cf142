"""Events of publishing: what other modules do when one happens is registered in `registry/wiring.py`."""

from __future__ import annotations

from typing import Final

from registry.core.hooks import Hook

# Called with a capability and why a release that was planned before holds no more: something else was published, or it
# was rolled back, retired or quarantined; in the transaction of what was done.
SUPERSEDED: Final = Hook()
# Called with an id, the files of the source (`{path: content}`) and an actor, once a bundle of that id was imported.
IMPORTED: Final = Hook()
