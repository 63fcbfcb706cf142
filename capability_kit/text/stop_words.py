"""Stop words: words that say little of what a sentence is about and separate the specific ones."""

from __future__ import annotations

from typing import Final

_WORDS: Final = """
    a about after again all also always an and any anything are as ask asks at be been before being but by can could
    do does during each every everything for from get gets given gives had has have having her hers here him his how
    i if in into is it its just keep keeps let lets may me might more most must my never not of off on once one or
    other our out over own per please same say says shall she should show shows so some somebody someone something
    such tell tells than that the their them then there these they this those to too under until up upon use used
    user users uses using via want wants was we were what when whenever where which while who whoever will with
    without would you your
"""
STOP_WORDS: Final = frozenset(_WORDS.split())
