"""One kind of write in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from django.utils.functional import Promise

Subject = Literal["capability_id", "git_source", "git_mirror", "agent_key", "operator", "webhook", "job", "registry"]


@dataclass(frozen=True, slots=True)
class EventType:
    """A kind of write.

    `label` is what a timeline shows; its placeholders are keys of the row's detail. `variants` are pairs of a key and
    the label of rows whose detail has it; the first counts. `public` is the event type for webhooks, and empty for what
    subscribers are not told; `subject` says what the row's subject is then. An `opt_in` event goes to those subscribers
    alone that name its type.
    """

    verb: str
    label: str | Promise = ""
    public: str = ""
    subject: Subject = "capability_id"
    in_timeline: bool = False
    opt_in: bool = False
    variants: tuple[tuple[str, str | Promise], ...] = ()

    def label_for(self, detail: Mapping[str, object]) -> str | Promise:
        """The label of a row with this detail."""
        return next((label for key, label in self.variants if detail.get(key)), self.label)
