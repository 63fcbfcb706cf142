"""The playground: what an agent would make of a message, without a model and with one."""

from typing import Final

from features.evaluations.feature import QUEUE
from registry.common.event_type import EventType
from registry.feature import Feature

FEATURE: Final = Feature(
    name="playground",
    requires=("evaluations",),
    events=(EventType("playground.chat"), EventType("playground.delete")),
    job_handlers={
        "evaluation.chat": "features.playground.chat_store.run_chat_job",
        "playground.prune": "features.playground.chat_store.prune_chats",
    },
    job_observers={"evaluation.chat": "features.playground.chat_store.on_job_state_change"},
    job_queues={"evaluation.chat": QUEUE},
    daily_jobs=("playground.prune",),
    pages="features.playground.urls",
    navigation="features.playground.navigation.SECTIONS",
)
