"""The tools of Weight Tracking, revision 0.

Written by `python -m capability_client stubs weights`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class WeightEntryList(TypedDict):
    limit: NotRequired[int]
    since: NotRequired[str]


class WeightEntryListResultEntriesItem(TypedDict):
    entry_id: str
    measured_on: str
    weight: float
    unit: Literal["lb", "kg"]
    note: NotRequired[str]


class WeightEntryListResult(TypedDict):
    entries: list[WeightEntryListResultEntriesItem]


class WeightTrendGet(TypedDict):
    days: NotRequired[int]


class WeightTrendGetResult(TypedDict):
    average: float
    change: float
    unit: Literal["lb", "kg"]


class WeightEntrySaveBatchEntriesItem(TypedDict):
    measured_on: str
    weight: float
    unit: Literal["lb", "kg"]
    note: NotRequired[str]
    include: NotRequired[bool]


class WeightEntrySaveBatch(TypedDict):
    source: NotRequired[Literal["chat", "scale", "import"]]
    entries: list[WeightEntrySaveBatchEntriesItem]


class WeightEntrySaveBatchResult(TypedDict):
    saved: int


class WeightEntryDelete(TypedDict):
    entry_id: str
