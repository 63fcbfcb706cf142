"""Django's admin as a read-only view of the tables, at /admin/ and for admins of the Studio alone.

It is for support: what a row holds, when no page shows it. It changes nothing, because every write goes through the
registry's own functions, which lock, check and audit. Secrets and what was derived from them are left out.
"""

from __future__ import annotations

from typing import Any, Final

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from registry.feature import installed_features, list_registry_models
from registry.models import Operator
from studio.pages.permissions import needs_second_factor

# With one of these a reader could sign, sign in or load as somebody else.
SECRET_FIELDS: Final = frozenset(
    {
        *("password", "key_hash", "previous_key_hash", "install_code", "response", "idempotency_key"),
        # What users said is read on pages of the Studio, by who may edit the capability.
        *("OutcomeReport.reason", "OutcomeReport.conversation"),
        *(name for feature in installed_features() for name in feature.secret_fields),
    }
)
_COLUMNS_MAX: Final = 8
_SHORT: Final = 200


def _is_secret(field: models.Field[Any, Any]) -> bool:
    return not SECRET_FIELDS.isdisjoint({field.name, f"{field.model.__name__}.{field.name}"})


def _visible(model: type[models.Model]) -> list[models.Field[Any, Any]]:
    return [field for field in model._meta.concrete_fields if not _is_secret(field)]  # noqa: SLF001


def visible_fields(model: type[models.Model]) -> list[str]:
    """The names of the fields that the admin shows, in the order of the model."""
    return [field.name for field in _visible(model)]


def _columns(model: type[models.Model]) -> list[str]:
    """Of a list: no relations, which would be a query each, and no long texts."""
    small = [
        field.name
        for field in _visible(model)
        if not (field.is_relation or isinstance(field, models.TextField | models.JSONField | models.BinaryField))
        and (field.max_length or 0) <= _SHORT
    ]
    return small[:_COLUMNS_MAX]


class ReadOnlyModelAdmin(ModelAdmin):  # type: ignore[type-arg]
    """Rows of one table, fifty a page; no button changes anything."""

    list_per_page = 50
    # Counting a table of millions takes longer than showing a page of it.
    show_full_result_count = False
    actions = None

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:  # noqa: ARG002
        """For everyone who may enter the site."""
        return self.admin_site.has_permission(request)

    has_module_permission = has_view_permission

    def _refuse(self, request: HttpRequest, obj: models.Model | None = None) -> bool:  # noqa: ARG002
        return False

    has_add_permission = has_change_permission = has_delete_permission = _refuse


class ReadOnlyAdminSite(AdminSite):
    """The site at /admin/. The Studio's own page signs people in, with its limits and its audit."""

    site_header = "Tables (read-only)"
    site_title = "Capability Studio"
    index_title = "Tables"
    site_url = "/"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        """For active superusers (admins of the Studio) who have chosen a password of their own, and have a second
        factor where their role requires one."""
        user = request.user
        if not isinstance(user, Operator) or not (user.is_active and user.is_superuser):
            return False
        return not user.must_change_password and not needs_second_factor(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG002
        """To the Studio's sign-in page. Raises `PermissionDenied` for somebody who is signed in without the right."""
        user = request.user
        if isinstance(user, Operator):
            if not user.must_change_password and not needs_second_factor(request):
                raise PermissionDenied
            # Which asks for the new password or the second factor first.
            return redirect("/")
        return redirect_to_login(request.GET.get("next") or request.get_full_path())

    def _to_studio(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:  # noqa: ARG002
        """To the Studio, whose own pages sign people out and change passwords."""
        return redirect("/")

    logout = password_change = password_change_done = _to_studio  # type: ignore[assignment]


def build_admin_site() -> ReadOnlyAdminSite:
    """The site with every table of the registry."""
    site = ReadOnlyAdminSite()
    for model in list_registry_models():
        options = {"fields": visible_fields(model), "list_display": _columns(model), "__module__": __name__}
        site.register(model, type(f"{model.__name__}Admin", (ReadOnlyModelAdmin,), options))
    return site
