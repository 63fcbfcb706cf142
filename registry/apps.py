"""The Django app of the registry."""

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate, pre_migrate


class RegistryConfig(AppConfig):
    """Registers the handlers and subscribers of `registry/wiring.py` once every app is loaded, and
    what `migrate` does besides."""

    name = "registry"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Models can be imported once Django has loaded every app.
        from capability_rules.validation.isolation import pool
        from registry.common.log_context import current_caller
        from registry.core import append_only
        from registry.operations import absent_features  # noqa: F401 (registers its check)
        from registry.wiring import wire

        wire()
        pool.use_processes(settings.CHECK_PROCESSES, get_caller=current_caller)
        pre_migrate.connect(append_only.remove_triggers, sender=self, dispatch_uid="append-only tables")
        post_migrate.connect(append_only.install_triggers, sender=self, dispatch_uid="append-only tables")
