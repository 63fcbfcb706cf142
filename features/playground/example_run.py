"""Every example message of the capabilities, run against the index as an agent's message is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.matching.index import MatchIndex

Expectation = Literal["should_match", "should_not_match"]


@dataclass(frozen=True, slots=True)
class ExampleMessage:
    """A message that capability.json of `capability_id` names, and whether it should lead there."""

    capability_id: str
    name: str
    message: str
    expectation: Expectation


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """What the message leads to now: `found` are the ids that it needs or, with two readings, that fit equally."""

    example: ExampleMessage
    found: tuple[str, ...]
    decision: str
    score: float
    is_pass: bool


def list_examples(index: MatchIndex, capability_id: str = "") -> list[ExampleMessage]:
    """Return the examples of one capability, or of all, by id; those that should match come first."""
    return [
        ExampleMessage(one.capability_id, one.name or one.capability_id, message, expectation)
        for one in index.matcher.known
        if capability_id in ("", one.capability_id)
        for expectation, messages in _by_expectation(one.sentences, one.counter_sentences)
        for message in messages
    ]


def _by_expectation(
    sentences: Sequence[str], counter_sentences: Sequence[str]
) -> Iterator[tuple[Expectation, Sequence[str]]]:
    yield "should_match", sentences
    yield "should_not_match", counter_sentences


def run_examples(index: MatchIndex, examples: Sequence[ExampleMessage]) -> list[ExampleResult]:
    """Match each message; takes about 5 ms for each with a sentence model, which reads every message once."""
    return [_run(index, example) for example in examples]


def _run(index: MatchIndex, example: ExampleMessage) -> ExampleResult:
    verdict = index.match(example.message, top=3)
    fitting = tuple(one.capability_id for one in verdict.matches if not one.is_below_threshold)
    found = verdict.needed or (fitting if verdict.decision == "ambiguous" else ())
    leads_there = example.capability_id in found
    is_pass = leads_there and verdict.decision == "match" if example.expectation == "should_match" else not leads_there
    score = next((one.score for one in verdict.matches if one.capability_id == example.capability_id), 0.0)
    return ExampleResult(example, found, verdict.decision, score, is_pass)
