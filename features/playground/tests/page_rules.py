"""Who may open the pages of the playground, and what their forms do."""

from features.playground.models import PlaygroundChat, PlaygroundStep
from tests.feature_pages import FeaturePages


def furnish() -> None:
    """A chat of the admin."""
    chat = PlaygroundChat.objects.create(created_by="the-admin", model="small")
    PlaygroundStep.objects.create(chat=chat, number=1, kind="message", content={"text": "alpha please"})


PAGES = FeaturePages(
    roles={
        "playground_action": ("viewer", "viewer"),
        "playground_begin": ("author", "author"),
        # Of the admin's own chat.
        "playground_chat": ("admin", "admin"),
        "playground_chat_save": ("admin", "admin"),
        "playground_chat_delete": ("admin", "admin"),
    },
    confirmed={"playground_chat_delete": dict},
    harmless={
        "playground_action": "reads",
        "playground_begin": "begins a chat, which can be deleted",
        "playground_chat": "says something in a chat, which can be deleted",
        "playground_chat_save": "adds a case, which can be deleted",
    },
    ordinary=frozenset({"playground_action", "playground_begin", "playground_chat", "playground_chat_save"})
    | {"playground_chat_delete"},
    numbered={"playground_chat": PlaygroundChat},
    furnish=furnish,
    own=frozenset({"playground_chat", "playground_chat_save", "playground_chat_delete"}),
    variants=("/playground/?m=alpha+please", "/playground/?m=alpha+please&compare=yes"),
)
