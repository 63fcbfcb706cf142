"""A session as agents have it, over what is live or with drafts in its place: both pages stand on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capability_client.session.options import Event, SessionOptions, User
from capability_client.session.session import Session
from capability_client.session.steps import Matcher as SessionMatcher
from capability_kit.environment.probe import Environment

if TYPE_CHECKING:
    from features.evaluations.sides import PlayedSide
    from registry.matching.matcher import Matcher


def read_side(*, with_drafts: bool) -> PlayedSide:
    """What messages meet; `with_drafts` has drafts that pass in the place of what is published.

    Raises `RegistryUnavailable` where nothing was ever read.
    """
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from features.evaluations.sides import read_side

    return read_side("", "draft" if with_drafts else "live")


def open_session(
    side: PlayedSide,
    environment: Environment,
    *,
    session_id: str,
    user_name: str = "",
    matcher: SessionMatcher | None = None,
) -> Session:
    """A session that has said nothing yet."""
    return Session(
        side.source,
        matcher=matcher,
        environment=environment,
        options=SessionOptions(exclusive_groups=side.index.exclusive),
        user=User(name=user_name, is_introduced=True),
        session_id=session_id,
    )


def name_capability(capability_id: str, matcher: Matcher) -> str:
    """Its name, or its id where it has none."""
    place = matcher.places.get(capability_id)
    return capability_id if place is None else matcher.known[place].name or capability_id


def describe_event(event: Event, words: str, matcher: Matcher) -> str:
    """An event of a session as a line: of which capability it is, what happened, and `words` about it."""
    return f"{name_capability(event.capability_id, matcher)} {event.kind}: {words}" if event.capability_id else words
