"""The page of the playground, a chat on it, and what its forms do."""

from django.urls import path

from features.playground import pages

_CHAT = "playground/<int:number>/"
urlpatterns = [
    path("playground/", pages.playground_show, name="playground_show"),
    path("playground/begin/", pages.playground_begin, name="playground_begin"),
    path("playground/examples/", pages.playground_examples, name="playground_examples"),
    path("playground/action/", pages.playground_action, name="playground_action"),
    path(_CHAT, pages.playground_chat, name="playground_chat"),
    path(f"{_CHAT}save/", pages.playground_chat_save, name="playground_chat_save"),
    path(f"{_CHAT}delete/", pages.playground_chat_delete, name="playground_chat_delete"),
    # Where chats were.
    path("playground/model/", pages.playground_moved, name="playground_moved"),
    path("playground/model/<int:number>/", pages.playground_moved, name="playground_chat_moved"),
]
