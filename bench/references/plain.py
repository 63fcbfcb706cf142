"""What one would write first: Django REST framework, its token authentication, the ORM, JSON at each request."""

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
    DATABASES={
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "plain.sqlite3", "CONN_MAX_AGE": None}
    },
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "rest_framework.authtoken"],
    MIDDLEWARE=["django.middleware.security.SecurityMiddleware", "django.middleware.common.CommonMiddleware"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import models
from django.urls import path
from rest_framework import serializers
from rest_framework.authentication import TokenAuthentication
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response


class Capability(models.Model):
    objects: models.Manager[Capability]

    capability_id = models.CharField(max_length=64, unique=True)
    entry = models.JSONField()
    body = models.JSONField()

    class Meta:
        app_label = "plain"


class EntrySerializer(serializers.Serializer[Any]):
    capability_id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    intent_triggers = serializers.ListField(child=serializers.CharField())


@api_view(["GET"])
@authentication_classes([TokenAuthentication])
@permission_classes([IsAuthenticated])
def capability_registry_list(request: Request) -> Response:  # noqa: ARG001 (every view takes a request)
    rows = [{**row.entry, **EntrySerializer(row.entry).data} for row in Capability.objects.order_by("capability_id")]
    return Response({"capabilities": rows})


@api_view(["GET"])
@authentication_classes([TokenAuthentication])
@permission_classes([IsAuthenticated])
def capability_skill_load(request: Request) -> Response:
    return Response(Capability.objects.get(capability_id=request.query_params["capability_id"]).body)


urlpatterns = [
    path("api/v1/capability_registry_list", capability_registry_list),
    path("api/v1/capability_skill_load", capability_skill_load),
]


def _fill() -> None:
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User
    from django.db import connection
    from rest_framework.authtoken.models import Token

    if "plain_capability" in connection.introspection.table_names():
        return
    with connection.schema_editor() as editor:
        editor.create_model(Capability)
    Token.objects.create(user=User.objects.create(username="bench"), key="bench")
    entries = json.loads(json.loads((FOLDER / "capability_registry_list.json").read_text())["body"])["capabilities"]
    body = json.loads(json.loads((FOLDER / "capability_skill_load.json").read_text())["body"])
    for entry in entries:
        Capability.objects.create(capability_id=entry["capability_id"], entry=entry, body=body)


try:
    _fill()
except sqlite3.OperationalError as error:
    raise SystemExit(str(error)) from error
application = get_wsgi_application()
