"""Events of publishing: what other modules do when one happens is registered in `registry/wiring.py`."""

from __future__ import annotations

from typing import Final

from registry.core.hooks import Hook

# Called with a capability that was there before and the number of its new revision, in the transaction of the release.
PUBLISHED: Final = Hook()
# Called with an id, the files of the source (`{path: content}`) and an actor, once a bundle of that id was imported.
IMPORTED: Final = Hook()
