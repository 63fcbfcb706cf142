"""The Django app of the registry."""

from django.apps import AppConfig


class RegistryConfig(AppConfig):
    """Registers the handlers and subscribers of `registry/wiring.py` once every app is loaded."""

    name = "registry"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Models can be imported once Django has loaded every app.
        from registry.wiring import wire

        wire()
