"""The pages of webhooks."""

from django.urls import path

from features.webhooks import pages

_WEBHOOK = "webhooks/<int:number>/"
urlpatterns = [
    path("webhooks/", pages.webhook_list, name="webhook_list"),
    path(_WEBHOOK, pages.webhook_show, name="webhook_show"),
    path(f"{_WEBHOOK}change/", pages.webhook_change, name="webhook_change"),
    path(f"{_WEBHOOK}test/", pages.webhook_test, name="webhook_test"),
    path(f"{_WEBHOOK}disable/", pages.webhook_disable, name="webhook_disable"),
    path(f"{_WEBHOOK}enable/", pages.webhook_enable, name="webhook_enable"),
    path(f"{_WEBHOOK}redeliver/", pages.webhook_redeliver, name="webhook_redeliver"),
    path(f"{_WEBHOOK}rotate/", pages.webhook_rotate, name="webhook_rotate"),
    path(f"{_WEBHOOK}delete/", pages.webhook_delete, name="webhook_delete"),
]
