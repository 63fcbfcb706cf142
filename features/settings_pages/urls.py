"""The pages of settings."""

from django.urls import path

from features.settings_pages import pages

urlpatterns = [
    path("settings/model/", pages.settings_model, name="settings_model"),
    path("settings/model/test/", pages.settings_model_test, name="settings_model_test"),
    path("settings/data/", pages.settings_data, name="settings_data"),
    path("settings/mail/", pages.settings_mail, name="settings_mail"),
    path("settings/mail/test/", pages.settings_mail_test, name="settings_mail_test"),
]
