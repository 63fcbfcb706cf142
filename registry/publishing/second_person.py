"""Who may decide about what somebody has done: a second person, where there can be one (docs/contract.md 3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from registry.access.operators import exclude_invited
from registry.access.teams import list_publishers
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.models import Capability, Operator
from registry.publishing.reviews import person_id

_NAMES_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Decider:
    """Whether somebody may decide: `refusal` says why not and who may, and is empty where they may.

    `is_alone` says that they decide about what they have done, so that no second person agrees: of members it is a sole
    admin, who has to show who they are.
    """

    refusal: str = ""
    is_alone: bool = False


@dataclass(frozen=True, slots=True)
class Deed:
    """The words of a decision: `verb` is what is decided ("end the quarantine"), `own` why somebody is involved ("You
    published or edited what is quarantined"), `command` what does it at the server ("bundle restore ...")."""

    verb: str
    own: str
    command: str


def evaluate_decider(capability: Capability | None, by: Actor, involved: Collection[str], deed: Deed) -> Decider:
    """Whether `by` may decide about what the actors in `involved` have done; `capability` is None before it exists."""
    people = {person_id(one) for one in involved}
    is_involved = person_id(str(by)) in people
    if by.kind == "command_line":
        # An admin who has the server: there is no account of theirs that could be compared with the others.
        return Decider(is_alone=is_involved)
    able = list(exclude_invited(list_publishers(capability)))
    others = [one.username for one in able if person_id(f"operator:{one.username}") not in people]
    own = next((one for one in able if by.kind == "operator" and one.username == by.name), None)
    if own is not None and not is_involved:
        return Decider()
    if own is not None and own.role == Operator.Role.ADMIN and not others:
        return Decider(is_alone=True)
    return Decider(_refusal(by, others, deed, is_involved=is_involved))


def require_confirmation(decider: Decider, by: Actor, own: str, *, is_confirmed: bool) -> None:
    """Raises `Forbidden` where a member decides alone and has not just shown who they are; `own` as in `Deed`."""
    if decider.is_alone and by.kind == "operator" and not is_confirmed:
        raise Forbidden(f"{own}: confirm who you are first")


def _refusal(by: Actor, others: list[str], deed: Deed, *, is_involved: bool) -> str:
    """Why `by` may not, and who may: members by name for a member, nobody by name for a key."""
    if by.kind != "operator":
        who = "a publisher or an admin who has done nothing of it"
        return f"A key cannot {deed.verb}: {who} does it in the Studio, or somebody at the server: {deed.command}"
    names = " or ".join(others[:_NAMES_MAX]) or "an admin"
    more = ", among others," if len(others) > _NAMES_MAX else ""
    why = deed.own if is_involved else "You cannot publish it"
    return f"{why}, so somebody else has to {deed.verb}: {names}{more} in the Studio"
