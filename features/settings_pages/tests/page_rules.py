"""Who may open the pages of settings, and what their forms do."""

from tests.feature_pages import FeaturePages

PAGES = FeaturePages(
    roles={
        "settings_model": ("admin", "admin"),
        "settings_model_test": ("admin", "admin"),
        "settings_data": ("admin", "admin"),
        "settings_mail": ("admin", "admin"),
        "settings_mail_test": ("admin", "admin"),
    },
    harmless={
        "settings_model": "what was before can be entered again",
        "settings_model_test": "asks a server which models it has",
        "settings_mail": "what was before can be entered again",
        "settings_data": "the same form again takes it back",
        "settings_mail_test": "a message to oneself",
    },
    ordinary=frozenset({"settings_model_test", "settings_mail_test"}),
)
