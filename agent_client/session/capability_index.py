"""What a session knows of the registry's list, with its triggers and names made ready for looking up."""

from __future__ import annotations

from agent_client.bundles.bundle import Listing, ListingEntry
from agent_client.session.invocations import NameIndex
from agent_client.text.trigger_matching import TriggerIndex


class SkillIndex:
    """The list, empty until one is accepted."""

    def __init__(self) -> None:
        self.is_read = False
        self.first_run = ""
        self.exclusive_groups: tuple[str, ...] = ()
        self.entries: dict[str, ListingEntry] = {}
        self.triggers = TriggerIndex(())
        self.names = NameIndex(())

    def accept(self, listing: Listing) -> None:
        """Take this list in the place of the one before."""
        self.is_read = True
        self.first_run = listing.first_run or ""
        self.exclusive_groups = listing.exclusive_groups
        self.entries = {entry.capability_id: entry for entry in listing.entries}
        pairs = ((entry.capability_id, trigger) for entry in listing.entries for trigger in entry.intent_triggers)
        self.triggers = TriggerIndex(pairs)
        self.names = NameIndex(listing.entries)
