"""Pages of the playground: without a model, and chats with one."""

from django.urls import path

from features.playground import chat_pages, pages

_CHAT = "playground/model/<int:number>/"
urlpatterns = [
    path("playground/", pages.playground_show, name="playground_show"),
    path("playground/examples/", pages.playground_examples, name="playground_examples"),
    path("playground/action/", pages.playground_action, name="playground_action"),
    path("playground/model/", chat_pages.playground_chat_list, name="playground_chat_list"),
    path(_CHAT, chat_pages.playground_chat, name="playground_chat"),
    path(f"{_CHAT}save/", chat_pages.playground_chat_save, name="playground_chat_save"),
    path(f"{_CHAT}delete/", chat_pages.playground_chat_delete, name="playground_chat_delete"),
]
