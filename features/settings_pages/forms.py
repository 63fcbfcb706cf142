"""The forms of *Settings > Model*, *Data* and *Mail*."""

from __future__ import annotations

from email.utils import parseaddr
from typing import Any, Literal

from django import forms
from django.core.validators import validate_email
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from features.credentials.credential_store import SECRET_LENGTH_MAX
from features.evaluations import model_settings
from features.settings_pages import settings_store
from features.settings_pages.settings_store import (
    EMAIL_SERVER,
    KEEP_DAYS_MAX,
    PRICE_MAX,
    TOKENS_MAX,
    URL_LENGTH_MAX,
    MailChoice,
    ModelChoice,
)
from registry.core.chosen_settings import (
    get_setting,
    is_public_read,
    is_set_by_server,
    read_chosen,
)
from registry.usage.outcome_reports import KEEP

# The fields of what a variable of the server decides.
_OF_SERVER = {
    "MODEL_URL": ("url", "kind", "names", "key", "needs_no_key"),
    "MODEL_PRICE": ("price_read", "price_written"),
    "MODEL_TOKENS_A_DAY": ("tokens_a_day",),
    "KEEP_UNMATCHED_DAYS": ("keeps", "keep_days"),
    "KEEP_CONVERSATIONS": ("keeps_conversations",),
    EMAIL_SERVER: ("host", "port", "encryption", "user", "password"),
    "EMAIL_FROM": ("sender",),
}


class _SettingsForm(forms.Form):
    """A form without the fields that the server has decided; `set_by_server` are their labels."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.set_by_server: list[str] = []
        for variable, names in _OF_SERVER.items():
            if is_set_by_server(variable):
                self.leave_out(*(name for name in names if name in self.fields))

    def leave_out(self, *names: str) -> None:
        self.set_by_server += [str(self.fields.pop(name).label) for name in names[:1]]
        for name in names[1:]:
            del self.fields[name]

    def note_kept(self, field: str, of: Literal["MODEL", "EMAIL"]) -> None:
        """Say beside the field of a secret that one is kept."""
        if field in self.fields and settings_store.has_secret(of):
            self.fields[field].help_text = _("One is kept. Leave this empty to keep it.")


def _price_field(label: Any) -> forms.FloatField:
    number = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(label=label, required=False, min_value=0, max_value=PRICE_MAX, widget=number)


def _text_field(
    label: Any, length_max: int, help_text: Any = "", widget: type[forms.widgets.Input] = forms.TextInput
) -> forms.CharField:
    """One that may be empty."""
    attributes = {"autocomplete": "off", "spellcheck": "false"}
    return forms.CharField(
        label=label, max_length=length_max, required=False, help_text=help_text, widget=widget(attrs=attributes)
    )


def _secret_field(label: Any) -> forms.CharField:
    words = gettext_lazy("Kept encrypted, and never shown again.")
    return _text_field(label, SECRET_LENGTH_MAX, words, forms.PasswordInput)


def _choice_field(label: Any, choices: list[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, widget=forms.Select(attrs={"class": "select"}))


class ModelForm(_SettingsForm):
    """What is typed of a model."""

    url = _text_field(
        gettext_lazy("Address"),
        URL_LENGTH_MAX,
        gettext_lazy("Such as https://api.openai.com/v1 or https://api.anthropic.com. Empty: no model."),
        forms.URLInput,
    )
    kind = _choice_field(
        gettext_lazy("Kind"),
        [
            ("openai", gettext_lazy("OpenAI and compatible (Ollama, vLLM, llama.cpp)")),
            ("anthropic", gettext_lazy("Anthropic")),
        ],
    )
    key = _secret_field(gettext_lazy("Key"))
    needs_no_key = forms.BooleanField(label=gettext_lazy("This server needs no key"), required=False)
    names = _text_field(
        gettext_lazy("Models"),
        2000,
        gettext_lazy(
            "Separated by commas, the preferred one first. Left empty and saved, Test connection fills them in."
        ),
    )
    price_read = _price_field(gettext_lazy("Price of a million tokens read (optional)"))
    price_written = _price_field(gettext_lazy("Price of a million tokens written (optional)"))
    tokens_a_day = forms.IntegerField(
        label=gettext_lazy("Tokens of one member on one day (optional)"),
        required=False,
        min_value=0,
        max_value=TOKENS_MAX,
        help_text=gettext_lazy("Empty: no limit."),
    )

    def __init__(self, *args: Any, found: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, initial=_initial_model(found), **kwargs)
        self.note_kept("key", "MODEL")

    def clean(self) -> dict[str, Any]:
        """Both prices or none."""
        given = super().clean() or self.cleaned_data
        if (given.get("price_read") is None) != (given.get("price_written") is None):
            self.add_error("price_written", _("Enter both prices, or none."))
        return given

    def choice(self) -> dict[str, Any]:
        """The arguments of `settings_store.choose_model` beside `by`."""
        given = self.cleaned_data
        read, written = given.get("price_read"), given.get("price_written")
        choice = ModelChoice(
            url=given.get("url", "").strip().rstrip("/"),
            kind=given.get("kind", "openai"),
            names=[name for name in (each.strip() for each in given.get("names", "").split(",")) if name],
            price=None if read is None or written is None else (read, written),
            tokens_a_day=given.get("tokens_a_day") or 0,
            key=given.get("key", "").strip(),
            needs_no_key=given.get("needs_no_key", False),
        )
        return {"choice": choice}


def _initial_model(found: tuple[str, ...]) -> dict[str, Any]:
    price = get_setting("MODEL_PRICE") or (None, None)
    names = model_settings.list_models() or list(found[: settings_store.NAMES_MAX])
    return {
        "url": model_settings.get_model_url(),
        "kind": model_settings.get_model_kind(),
        "names": ", ".join(names),
        "price_read": price[0],
        "price_written": price[1],
        "tokens_a_day": get_setting("MODEL_TOKENS_A_DAY") or None,
    }


class MailForm(_SettingsForm):
    """What is typed of a mail server."""

    host = _text_field(
        gettext_lazy("Server"), 255, gettext_lazy("Such as smtp.example.com. Empty: no e-mails are sent.")
    )
    port = forms.IntegerField(label=gettext_lazy("Port"), min_value=1, max_value=65535)
    encryption = _choice_field(
        gettext_lazy("Encryption"),
        [
            ("starttls", gettext_lazy("STARTTLS (port 587)")),
            ("tls", gettext_lazy("TLS (port 465)")),
            ("none", gettext_lazy("None, inside your own network")),
        ],
    )
    user = _text_field(gettext_lazy("User (optional)"), 200)
    password = _secret_field(gettext_lazy("Password"))
    sender = _text_field(gettext_lazy("Sender"), 200, gettext_lazy("Such as Capability Studio <studio@example.com>."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        chosen = read_chosen()
        initial = {"port": 587, **(chosen.get(EMAIL_SERVER) or {}), "sender": chosen.get("EMAIL_FROM", "")}
        super().__init__(*args, initial=initial, **kwargs)
        self.note_kept("password", "EMAIL")

    def clean_sender(self) -> str:
        """One address, with a name or without one."""
        sender: str = self.cleaned_data["sender"]
        if sender:
            validate_email(parseaddr(sender)[1] if sender.isprintable() else sender)
        return sender

    def choice(self) -> dict[str, Any]:
        """The arguments of `settings_store.choose_mail` beside `by`."""
        return {"choice": MailChoice(**self.cleaned_data)}


class DataForm(_SettingsForm):
    """What is kept of users, and who reads without a key."""

    keeps = forms.BooleanField(
        label=gettext_lazy("Keep messages that found no capability"),
        required=False,
        help_text=gettext_lazy("They show on Unmet requests what users asked for in vain."),
    )
    keep_days = forms.IntegerField(
        label=gettext_lazy("Days"), required=False, min_value=1, max_value=KEEP_DAYS_MAX, help_text="1-365"
    )
    keeps_conversations = forms.BooleanField(
        label=gettext_lazy("Keep conversations of failed uses"),
        required=False,
        help_text=gettext_lazy(
            "For 30 days, for members who may edit the capability, where an agent's program sends them."
        ),
    )
    public_read = forms.ChoiceField(
        label=gettext_lazy("Who may read without an API key"),
        choices=[
            ("no", gettext_lazy("Nobody")),
            ("yes", gettext_lazy("Everyone who reaches this server, of what is listed")),
        ],
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        days = get_setting("KEEP_UNMATCHED_DAYS")
        initial = {
            "keeps": bool(days),
            "keep_days": days or 30,
            "keeps_conversations": get_setting(KEEP),
            "public_read": "yes" if is_public_read() else "no",
        }
        super().__init__(*args, initial=initial, **kwargs)
        if not settings_store.may_open_reads():
            self.leave_out("public_read")

    def choice(self) -> dict[str, Any]:
        """The arguments of `settings_store.choose_data` beside `by`."""
        given = self.cleaned_data
        days = (given["keep_days"] or 30) if given.get("keeps") else 0
        return {
            "keep_days": days if "keeps" in self.fields else None,
            "keeps_conversations": given.get("keeps_conversations"),
            "public_read": given["public_read"] == "yes" if "public_read" in self.fields else None,
        }
