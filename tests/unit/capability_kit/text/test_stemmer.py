"""Our stemmer against a published one (snowballstemmer's `porter`) over the words that we have."""

from __future__ import annotations

import re
from pathlib import Path

import snowballstemmer

from capability_kit.text.stemmer import stem
from tests.servers import ROOT

# The examples of Porter's paper, step by step, and words that were wrong in somebody's stemmer.
PICKED = """
caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned
falling hissing fizzed failing filing happy sky relational conditional rational valenci hesitanci digitizer
conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism decisiveness
hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize electriciti electrical
hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment
dependent adoption homologou communism activate angulariti homologous effective bowdlerize probate rate cease controll
roll generalizations oscillators weighed weighing weigh weights weighs logged logging lifts lifted lifting squatting
squats meals calories macros refunds refunded refunding downgrade downgraded downgrading downgrades annual annually
plans planning planned introduce introduced introducing introduction analyses analyze analyzed analyzing analysis
spreadsheets pivoting tables evicted evicting eviction pressure pressures disks nodes training trained trainer
sessions workout workouts eating ate eaten yesterday yes yellow byes dying dies died lying lies lied tying tied skiing
skis sheep geese indices matrices universities university universal universe organization organizations organize
organised organising news inning innings outing outings canning cannings herring herrings earring earrings proceed
proceeds proceeded exceed succeeds early only ugly singly gently idly supply supplies supplied applying applied
replies replying studying studies studied sleeping slept queue queues queueing queuing agreement agreements agreeable
disagreed bee bees freed seeing sees employees employment enjoying enjoyed joyful boys boyish toying crying cried
cries trying tries fly flies flying flown vying oxygen rhythm rhythms syzygy by my why eye eyes dye dyed buzz buzzing
buzzed fuzzy miss misses missed missing kiss controlled controlling rolling rolls filled filling spelled spelling
telling installed installing installation cancelled cancelling canceled traveller travelling travels benefitted
benefited occurring occurred referring referred preferred
"""
_WORD = re.compile(r"[a-z]{3,64}")


def _own_words() -> set[str]:
    files: list[Path] = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.*"), *ROOT.glob("*.md")]
    files += [*(ROOT / "registry").rglob("*.py"), *(ROOT / "schemas").rglob("*.json")]
    found: set[str] = set(PICKED.split())
    for file in files:
        found.update(_WORD.findall(file.read_text("utf-8", errors="replace").lower()))
    return {word for word in found if _WORD.fullmatch(word)}


def test_every_word_has_the_stem_that_the_published_stemmer_gives() -> None:
    published = snowballstemmer.stemmer("porter")
    every = sorted(_own_words())
    assert len(every) > 3000
    faults = {word: (stem(word), theirs) for word in every if stem(word) != (theirs := published.stemWord(word))}
    assert faults == {}


def test_short_words_and_words_of_other_letters_stay() -> None:
    for word in ("is", "as", "ed", "a", "", "größe", "重量", "naïve", "x1", "Weighed", "don't"):
        assert stem(word) == word
    assert stem("a" * 65 + "ing") == "a" * 65 + "ing"


def test_weighed_is_weigh() -> None:
    assert stem("weighed") == stem("weighing") == stem("weighs") == stem("weigh") == "weigh"
