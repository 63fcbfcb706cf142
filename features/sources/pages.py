"""Git repositories and other registries that are followed."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import InvalidRequest, RegistryError
from features.credentials import credential_store
from features.sources import confirmations as questions
from features.sources import push_webhooks, source_selectors, source_sync
from features.sources.models import GitSource
from features.sources.source_selectors import SourcePage
from features.sources.source_sync import EVERY_MINUTES_MAX, EVERY_MINUTES_MIN, SyncSettings
from registry.common.actors import Actor
from studio.pages.actions import is_fragment, no_store, run_action, submit_form, vary_on_htmx
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, admin_required, operator_required, publisher_required

_MODES: Final = [
    ("draft", gettext_lazy("Create drafts")),
    ("publish", gettext_lazy("Publish if checks pass")),
]


class SyncSettingsForm(forms.Form):
    """How a source is followed."""

    mode = forms.ChoiceField(
        label=gettext_lazy("On change"),
        choices=_MODES,
        widget=forms.Select(attrs={"class": "select"}),
    )
    every_minutes = forms.IntegerField(
        label=gettext_lazy("Sync interval (minutes)"),
        min_value=EVERY_MINUTES_MIN,
        max_value=EVERY_MINUTES_MAX,
        initial=60,
    )


class GitSyncForm(SyncSettingsForm):
    """How a repository is followed."""

    credential = forms.ChoiceField(
        label=gettext_lazy("Credential"),
        required=False,
        help_text=gettext_lazy("For a private repository. Keep it first under Settings, Credentials."),
        widget=forms.Select(attrs={"class": "select"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["credential"].choices = _credential_choices()  # type: ignore[attr-defined]


def _credential_choices() -> list[tuple[str, str]]:
    names = [row.name for row in credential_store.list_credentials(in_force=True)]
    return [("", _("Public repository")), *((name, name) for name in names)]


class RegistrySyncForm(SyncSettingsForm):
    """How another registry is followed."""

    read_key = forms.CharField(
        label=gettext_lazy("API key of the other registry"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("With the scope read. Empty = keep the saved key."),
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    may_adopt = forms.BooleanField(label=gettext_lazy("Adopt existing capabilities"), required=False)


class SourceForm(RegistrySyncForm):
    """Adds a source: where it is, beside how it is synced."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Type"),
        choices=[("git", gettext_lazy("Git repository")), ("registry", gettext_lazy("Another Capability Studio"))],
        widget=forms.Select(attrs={"class": "select"}),
    )
    address = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=1000,
        help_text=gettext_lazy("https://host/repository@branch#folder, or https://studio.example.com"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    credential = forms.ChoiceField(
        label=gettext_lazy("Credential"),
        required=False,
        help_text=gettext_lazy("For a private repository. Keep it first under Settings, Credentials."),
        widget=forms.Select(attrs={"class": "select"}),
    )
    field_order = ("kind", "address", "credential", "mode", "every_minutes", "read_key", "may_adopt")
    # What another registry alone has.
    registrys_own = ("read_key", "may_adopt")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["read_key"].help_text = _("With the scope read (optional).")
        self.fields["credential"].choices = _credential_choices()  # type: ignore[attr-defined]

    @property
    def for_both(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.registrys_own]

    @property
    def for_registries(self) -> list[forms.BoundField]:
        """The fields that are for registries only."""
        return [field for field in self if field.name in self.registrys_own]


@operator_required("GET")
def source_list(request: StudioRequest) -> HttpResponse:
    """All of them, and for admins a form for one more."""
    return _listed(request, SourceForm())


def _listed(request: StudioRequest, form: SourceForm, *, status: int = 200) -> HttpResponse:
    page = get_page(request, source_selectors.list_source_rows())
    return render(request, "studio/source/list.html", {"page": page, "form": form}, status=status)


@admin_required(form_on="studio:source_list")
def source_create(request: StudioRequest) -> HttpResponse:
    """Follow a repository or another registry; its first sync is due at once."""
    form = SourceForm(request.POST)
    if source := submit_form(request, form, _add, field="address"):
        messages.success(request, _("Source connected. The first sync has started."))
        if "@" in urlsplit(form.cleaned_data["address"]).netloc and source.credential is not None:
            words = _("The token was taken out of the address and kept as the credential %(name)s.")
            messages.info(request, words % {"name": source.credential.name})
        return redirect("studio:source_show", source.pk)
    return _listed(request, form, status=400)


def _add(*, kind: str, address: str, credential: str, read_key: str, may_adopt: bool, **ways: Any) -> GitSource:
    if kind == GitSource.Kind.REGISTRY:
        if credential:
            raise InvalidRequest(_("Another registry takes a key of its own, not a credential."))
        return source_sync.add_registry(url=address, read_key=read_key, may_adopt=may_adopt, **ways)
    return source_sync.add_git_source(spec=address, credential=credential, **ways)


@operator_required("GET")
def source_show(request: StudioRequest, number: int) -> HttpResponse:
    """One source with its bundles; asked for again while a worker looks at it."""
    found = source_selectors.get_source_page(number)
    return vary_on_htmx(_render_page(request, found, part="#state" if is_fragment(request) else ""))


def _way_form(source: GitSource, data: Any = None) -> SyncSettingsForm:
    initial = {"mode": source.mode, "every_minutes": source.every_minutes, "may_adopt": source.may_adopt}
    initial["credential"] = source.credential.name if source.credential is not None else ""
    form = RegistrySyncForm if source.kind == GitSource.Kind.REGISTRY else GitSyncForm
    return form(data, initial=initial)


def _render_page(
    request: StudioRequest,
    found: SourcePage,
    *,
    form: SyncSettingsForm | None = None,
    part: str = "",
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    origin = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
    context = {
        "found": found,
        "source": found.source,
        "page": get_page(request, found.rows),
        "form": form or _way_form(found.source),
        "address": f"{origin}{push_webhooks.push_url(found.source)}",
        "secret": secret,
    }
    return no_store(render(request, f"studio/source/show.html{part}", context, status=status))


@admin_required(form_on="studio:source_show")
def source_change(request: StudioRequest, number: int) -> HttpResponse:
    """Change how a source is followed: as drafts or published, how often, with which key."""
    found = source_selectors.get_source_page(number)
    form = _way_form(found.source, request.POST)
    if submit_form(request, form, _change, field=None, source=found.source):
        messages.success(request, _("Saved."))
        return redirect("studio:source_show", number)
    return _render_page(request, found, form=form, status=400)


def _change(
    *,
    source: GitSource,
    by: Actor,
    mode: str,
    every_minutes: int,
    read_key: str = "",
    may_adopt: bool | None = None,
    credential: str | None = None,
) -> GitSource:
    following = SyncSettings(mode, every_minutes, source.may_adopt if may_adopt is None else may_adopt)
    return source_sync.update_source(
        source_id=source.pk, following=following, by=by, read_key=read_key or None, credential=credential
    )


@publisher_required(form_on="studio:source_show")
def source_sync_now(request: StudioRequest, number: int) -> HttpResponse:
    """Have a worker look at it now."""
    if source_sync.request_sync(source_id=number, by=actor_of(request)):
        messages.success(request, _("Sync started."))
    else:
        messages.success(request, _("A sync is already running."))
    return redirect("studio:source_show", number)


@admin_required("GET", "POST")
@confirmed_first(questions.replace_source_secret, page="studio:source_show")
def source_secret(request: StudioRequest, number: int) -> HttpResponse:
    """A new secret for its pushes, shown once."""
    source_selectors.get_source_page(number)
    try:
        _source, secret = push_webhooks.create_push_secret(source_id=number, by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:source_show", number)
    return _render_page(request, source_selectors.get_source_page(number), secret=secret)


def _run(request: StudioRequest, number: int, words: str, verb: Any, **arguments: Any) -> HttpResponse:
    source_selectors.get_source_page(number)
    return run_action(request, verb, words, to=redirect("studio:source_show", number), source_id=number, **arguments)


@admin_required(form_on="studio:source_show")
def source_secret_set(request: StudioRequest, number: int) -> HttpResponse:
    """The secret of another registry's webhook to this source."""
    words = _("Secret saved. Send a test event from the other registry.")
    return _run(request, number, words, push_webhooks.set_secret, secret=get_text(request, "secret", most=200))


@admin_required("GET", "POST")
@confirmed_first(questions.end_old_source_secret, page="studio:source_show")
def source_secret_expire(request: StudioRequest, number: int) -> HttpResponse:
    """Take nothing more that is signed with the old secret."""
    words = _("The old secret has ended.")
    return _run(request, number, words, push_webhooks.expire_previous_secret)


@admin_required("GET", "POST")
@confirmed_first(questions.delete_source_secret, page="studio:source_show")
def source_secret_delete(request: StudioRequest, number: int) -> HttpResponse:
    """Delete the webhook secret: pushes are no longer accepted."""
    words = _("Secret deleted. The source still syncs on schedule.")
    return _run(request, number, words, push_webhooks.delete_secret)


@admin_required("GET", "POST")
@confirmed_first(questions.remove_source, page="studio:source_show", gone="studio:source_list")
def source_remove(request: StudioRequest, number: int) -> HttpResponse:
    """Remove the source; imported bundles stay."""

    def words(source: GitSource) -> str:
        return _("%(spec)s disconnected. Imported capabilities stay.") % {"spec": source.spec}

    return run_action(request, source_sync.remove_source, words, to=redirect("studio:source_list"), source_id=number)
