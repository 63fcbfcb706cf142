"""Messages that say no to something: they lead to what else they ask for, or nowhere (docs/contract.md 4).

What is denied is what the denial alone would lead to, or whose triggers stand in it and nowhere else. A capability
whose own example messages say no ("don't sync with my phone any more") is meant by such a message and is not denied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from capability_kit.text.denials import Span, asks_for_something, blank_denials, find_denials
from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.clauses import Counter, Embed, match_message
from registry.matching.matcher import TOP_DEFAULT, Matcher, MatchResult

Takes = Callable[[CapabilityProfile], bool]
_REASON: Final = "The message says no to "


def match_wanted(
    matcher: Matcher,
    message: str,
    embed: Embed,
    *,
    top: int = TOP_DEFAULT,
    takes: Takes | None = None,
    counter: Counter | None = None,
) -> MatchResult:
    """As `match_message`, without what the message says no to."""
    denials = find_denials(message)
    denied = _denied_ids(matcher, message, denials, embed, takes, counter) if denials else frozenset()
    if not denied:
        return match_message(matcher, message, embed, top=top, takes=takes, counter=counter)

    def takes_wanted(one: CapabilityProfile) -> bool:
        return one.capability_id not in denied and (takes is None or takes(one))

    rest = blank_denials(message)
    if asks_for_something(rest):
        return match_message(matcher, rest, embed, top=top, takes=takes_wanted, counter=counter)
    return MatchResult("none", (), f"{_REASON}{', '.join(sorted(denied))}, and asks for nothing else.")


def _denied_ids(
    matcher: Matcher, message: str, denials: Sequence[Span], embed: Embed, takes: Takes | None, counter: Counter | None
) -> frozenset[str]:
    """What the message says no to."""
    denied = {
        owner
        for owner, hits in matcher.hits(message).items()
        if all(any(start <= hit.start and hit.end <= end for start, end in denials) for hit in hits)
    }
    for start, end in denials:
        denied.update(match_message(matcher, message[start:end], embed, takes=takes, counter=counter).needed)
    kept = matcher.hits(blank_denials(message)).keys()
    return frozenset(name for name in denied - kept if not matcher.known[matcher.places[name]].says_no)
