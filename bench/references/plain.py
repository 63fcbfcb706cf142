"""What one would write first: tables, serializers, token authentication, the settings that `startproject` writes."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import django
from django.conf import settings

FOLDER = Path(os.environ["BENCH_FOLDER"])
settings.configure(
    SECRET_KEY="bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "plain.sqlite3"}},
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
        "rest_framework",
        "rest_framework.authtoken",
    ],
    # As `django-admin startproject` writes it.
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.urls import path
from rest_framework import generics, serializers
from rest_framework.authentication import TokenAuthentication
from rest_framework.permissions import IsAuthenticated


class Capability(models.Model):
    objects: models.Manager[Capability]

    capability_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=80)
    description = models.CharField(max_length=1024)
    intent_triggers = models.JSONField()
    capability = models.JSONField()
    status = models.CharField(max_length=16)
    revision = models.PositiveIntegerField()
    digest = models.CharField(max_length=71)
    skill_doc = models.TextField()

    class Meta:
        app_label = "plain"


class Tool(models.Model):
    objects: models.Manager[Tool]

    capability = models.ForeignKey(Capability, on_delete=models.CASCADE, related_name="tools")
    name = models.CharField(max_length=64)
    description = models.CharField(max_length=1024)
    args_schema = models.JSONField()
    policy = models.JSONField()

    class Meta:
        app_label = "plain"
        ordering = ["id"]


class ToolSerializer(serializers.ModelSerializer[Tool]):
    class Meta:
        model = Tool
        fields = ["name", "description", "args_schema", "policy"]


class EntrySerializer(serializers.ModelSerializer[Capability]):
    class Meta:
        model = Capability
        fields = ["capability_id", "name", "description", "intent_triggers", "digest", "status"]


class BundleSerializer(serializers.ModelSerializer[Capability]):
    tools = ToolSerializer(many=True)

    class Meta:
        model = Capability
        fields = ["capability_id", "revision", "digest", "status", "skill_doc", "tools", "capability"]


class Plain(generics.GenericAPIView[Capability]):
    authentication_classes = [TokenAuthentication]
    permission_classes = [IsAuthenticated]


class ListView(Plain, generics.ListAPIView[Capability]):
    queryset = Capability.objects.order_by("capability_id")
    serializer_class = EntrySerializer

    def list(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().list(request, *args, **kwargs)
        answer.data = {"capabilities": answer.data}
        return answer


class LoadView(Plain, generics.RetrieveAPIView[Capability]):
    queryset = Capability.objects.prefetch_related("tools")
    serializer_class = BundleSerializer

    def get_object(self) -> Capability:
        return generics.get_object_or_404(self.get_queryset(), capability_id=self.request.query_params["capability_id"])


urlpatterns = [
    path("api/v1/capability_registry_list", ListView.as_view()),
    path("api/v1/capability_skill_load", LoadView.as_view()),
]


def _saved(name: str) -> Any:
    return json.loads(json.loads((FOLDER / f"{name}.json").read_text())["body"])


def _fill() -> None:
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User
    from rest_framework.authtoken.models import Token

    if "plain_capability" in connection.introspection.table_names():
        return
    with connection.schema_editor() as editor:
        editor.create_model(Capability)
        editor.create_model(Tool)
    Token.objects.create(user=User.objects.create(username="bench"), key="bench")
    body = _saved("capability_skill_load")
    for entry in _saved("capability_registry_list")["capabilities"]:
        values = {name: entry[name] for name in EntrySerializer.Meta.fields}
        rest = {name: body[name] for name in ("capability", "revision", "skill_doc")}
        row = Capability.objects.create(**values, **rest)
        for tool in body["tools"]:
            Tool.objects.create(capability=row, **tool)


try:
    _fill()
except sqlite3.OperationalError as error:
    raise SystemExit(str(error)) from error
application = get_wsgi_application()
