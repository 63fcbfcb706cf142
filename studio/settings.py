"""Django's settings. Every choice an operator has comes from `studio.config.environment`; the rest is fixed here.

Reached through `django.conf` alone. docs/settings.md says what each variable is for.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import tomllib
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from registry.common.installation import (
    DATA_DIR_PARENT,
    IS_CHECKOUT,
    PACKAGES_DIR,
    PARTS,
    RESOURCES_DIR,
    install_command,
)
from registry.common.redis_clients import celery_broker
from registry.feature import list_missing_requirements
from studio.config.environment import ConfigurationError, StudioEnvironment, read_environment
from studio.config.logging import logging_settings
from studio.config.parsers import Database
from studio.config.secret_key import DATABASE_NAME, get_stored_secret_key, protect_database

BASE_DIR = PACKAGES_DIR
ENVIRONMENT: StudioEnvironment = read_environment(os.environ, base_dir=DATA_DIR_PARENT)

# pyproject.toml is the one place where the version is written; a wheel has it in its metadata.
STUDIO_VERSION: str = (
    tomllib.loads((BASE_DIR / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if IS_CHECKOUT
    else importlib.metadata.version("capability-studio")
)

HOST = ENVIRONMENT.host
PORT = ENVIRONMENT.port
DATA_DIR = ENVIRONMENT.data_dir
DEBUG = ENVIRONMENT.debug
SECRET_KEY = ENVIRONMENT.secret_key or get_stored_secret_key(DATA_DIR)
SECRET_KEY_FALLBACKS = list(ENVIRONMENT.secret_key_fallbacks)
# None where the key that signs revisions is derived from SECRET_KEY, which is the same on every host.
SIGNING_KEY_FILE: Path | None = ENVIRONMENT.signing_key_file or (
    None if ENVIRONMENT.database else DATA_DIR / "signing_key.pem"
)
# The last checkpoint, outside of the database: registry/core/kept_checkpoint.py. None: it is not kept.
KEPT_CHECKPOINT_FILE: Path | None = ENVIRONMENT.checkpoint_file or DATA_DIR / "last_checkpoint.json"
# None where none is given: then absolute links follow the request's own address.
PUBLIC_URL = ENVIRONMENT.public_url
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
TRUSTED_PROXIES = ENVIRONMENT.trusted_proxies
CORS_ALLOWED_ORIGINS = ENVIRONMENT.cors_allowed_origins
EXAMPLES = ENVIRONMENT.examples
AGENT_API_PUBLIC_READ = ENVIRONMENT.agent_api_public_read
OAUTH_REGISTRATION = ENVIRONMENT.oauth_registration
OAUTH_ISSUER = ENVIRONMENT.oauth_issuer
OAUTH_AUDIENCE = ENVIRONMENT.oauth_audience
OAUTH_DOMAINS = ENVIRONMENT.oauth_domains
RATE_LIMITS = ENVIRONMENT.rate_limits
WEBHOOK_ALLOWED_NETWORKS = ENVIRONMENT.webhook_allowed_networks
IMPORT_ALLOWED_NETWORKS = ENVIRONMENT.import_allowed_networks
KEEP_UNMATCHED_DAYS = ENVIRONMENT.keep_unmatched_days
KEEP_CONVERSATIONS = ENVIRONMENT.keep_conversations
ACCESS_LOG = ENVIRONMENT.access_log
# 0 means no limit. They hold where requests are answered: commands and migrations may take their time.
DATABASE_STATEMENT_TIMEOUT_SECONDS = ENVIRONMENT.statement_timeout_seconds
DATABASE_LOCK_TIMEOUT_SECONDS = ENVIRONMENT.lock_timeout_seconds
# Their order is that of their folders in `features/`.
FEATURES = ENVIRONMENT.features
if _MISSING := list_missing_requirements(FEATURES):
    raise ConfigurationError(*_MISSING)
MODEL_URL = ENVIRONMENT.model_url
MODEL_KIND = ENVIRONMENT.model_kind
MODEL_NAMES = ENVIRONMENT.model_names
MODEL_API_KEY = ENVIRONMENT.model_api_key
MODEL_PRICE = ENVIRONMENT.model_price
MODEL_TOKENS_A_DAY = ENVIRONMENT.model_tokens_a_day
MODEL_ALLOWED_NETWORKS = ENVIRONMENT.model_allowed_networks
EMAIL_ALLOWED_NETWORKS = ENVIRONMENT.email_allowed_networks
# The variables that are set: no page overrules them (registry/core/chosen_settings.py).
SET_BY_SERVER = ENVIRONMENT.given
EMBEDDER = ENVIRONMENT.embedder
EMBEDDER_MODEL = ENVIRONMENT.embedder_model
EMBEDDER_API_KEY = ENVIRONMENT.embedder_api_key
EMBEDDING_DIM = ENVIRONMENT.embedding_dim
WEB_THREADS = ENVIRONMENT.web_threads
CHECK_PROCESSES = ENVIRONMENT.check_processes
CONNECTIONS_PER_ADDRESS = ENVIRONMENT.connections_per_address
REDIS_URL = ENVIRONMENT.redis_url
OIDC_ISSUER = ENVIRONMENT.oidc_issuer
OIDC_NAME = ENVIRONMENT.oidc_name
OIDC_ROLES = ENVIRONMENT.oidc_roles
OIDC_GROUPS_CLAIM = ENVIRONMENT.oidc_groups_claim
# Another issuer may have the same subjects for other people, so that accounts belong to this name.
OIDC_PROVIDER_ID = f"oidc-{hashlib.sha256((OIDC_ISSUER or '').encode()).hexdigest()[:16]}"
SECOND_FACTOR_ROLES = ENVIRONMENT.second_factor_roles
# Traces go out where a collector is named and nothing of the standard switches them off.
IS_TRACED = (
    (ENVIRONMENT.traces_url or ENVIRONMENT.traces_own_url) is not None
    and os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() != "true"
    and os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() != "none"
)
# Metrics go to the same collector; for traces alone name that address alone.
IS_METERED = (
    ENVIRONMENT.traces_url is not None
    and os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() != "true"
    and os.environ.get("OTEL_METRICS_EXPORTER", "").strip().lower() != "none"
)
if (IS_TRACED or IS_METERED) and importlib.util.find_spec("opentelemetry") is None:
    raise ConfigurationError(
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages for it are not installed. "
        f"Install them with: {install_command('otel')}"
    )
REQUIRED_SCANNERS = ENVIRONMENT.required_scanners
SESSION_IDLE_SECONDS = ENVIRONMENT.session_idle_hours * 3600
# A dangerous action asks for the password or a second factor again when the last time is longer ago.
IDENTITY_CONFIRMED_SECONDS = 15 * 60

INSTALLED_APPS = [
    # First, so that their templates and commands win over the contributed ones.
    "studio",
    "registry",
    "agent_api",
    *(f"features.{name}" for name in (*PARTS, *FEATURES)),
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "template_partials",
    "django_htmx",
    "csp",
    # Second factors, sessions and identity providers. Of its addresses, pages and forms the Studio has its own.
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
]
for _NAME, _ISSUER in (("OIDC_ISSUER", OIDC_ISSUER), ("OAUTH_ISSUER", OAUTH_ISSUER)):
    if _ISSUER and (importlib.util.find_spec("requests") is None or importlib.util.find_spec("jwt") is None):
        raise ConfigurationError(
            f"{_NAME} is set, and the packages for it are not installed. Install them with: {install_command('oidc')}"
        )
if OIDC_ISSUER:
    INSTALLED_APPS.append("allauth.socialaccount.providers.openid_connect")

MIDDLEWARE = [
    # First, so that everything below sees the client's own address, scheme and host.
    "studio.middleware.proxies.ForwardingMiddleware",
    "studio.middleware.request_ids.RequestIdMiddleware",
    "studio.middleware.proxies.ProbeMiddleware",
    # Before whatever may answer by itself, so that this is counted too.
    "agent_api.metrics.request_middleware.CountingMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # The answer to a preflight needs nothing of what follows.
    "agent_api.http.cors.CorsMiddleware",
    "csp.middleware.CSPMiddleware",
    "studio.middleware.resource_policy.ResourcePolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    # Ends sessions before anything asks who is signed in.
    "studio.middleware.session_limits.SessionLimitMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "studio.middleware.time_zones.TimeZoneMiddleware",
    "studio.middleware.database_unavailable.UnavailableMiddleware",
]

if IS_TRACED:
    # Inside of the request id, so that the line of the log has both.
    MIDDLEWARE.insert(2, "studio.middleware.tracing.TracingMiddleware")

ROOT_URLCONF = "studio.urls"
WSGI_APPLICATION = "studio.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [RESOURCES_DIR / "templates"],
        # template_partials replaces this by its own loaders, cached unless DEBUG is on.
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


# A host that vanished answers nothing, not even that it is gone: without these a connection to it hangs for hours.
# What DATABASE_URL says wins.
_CONNECTING = {
    "connect_timeout": "5",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    # Milliseconds.
    "tcp_user_timeout": "15000",
}


def postgresql_settings(database: Database) -> dict[str, Any]:
    """Django's entry of DATABASES for a server that DATABASE_URL names: every wait for it ends."""
    return {
        # Django's own with a bound for every wait.
        "ENGINE": "registry.common.postgresql",
        "NAME": database.name,
        "USER": database.user,
        "PASSWORD": database.password,
        "HOST": database.host,
        "PORT": str(database.port or ""),
        "OPTIONS": {**_CONNECTING, **database.options},
        # A connection per thread, kept for a minute and tried before it is used again.
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def _sqlite(data_dir: Path) -> dict[str, Any]:
    protect_database(data_dir)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": data_dir / DATABASE_NAME,
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # With four writers: Django's defaults 48 "locked" errors, WAL and IMMEDIATE none.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # NORMAL is safe with WAL: a power cut may lose the last commits, never the file. Django itself switches
            # foreign keys on.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
        },
    }


DATABASES = {"default": postgresql_settings(ENVIRONMENT.database) if ENVIRONMENT.database else _sqlite(DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "registry.Operator"
# Hashes of before are accepted and replaced at the next sign-in.
PASSWORD_HASHERS = [
    "registry.access.password_hashers.QueuedArgon2PasswordHasher",
    "registry.access.password_hashers.QueuedPBKDF2PasswordHasher",
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "registry.access.password_rules.AccountSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# django-allauth: who signs in is decided by the Studio's own pages and limits (docs/adr/0018).
ACCOUNT_ADAPTER = "studio.pages.sign_in_adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_RATE_LIMITS = False
ACCOUNT_LOGIN_TIMEOUT = 10 * 60
MFA_ADAPTER = "studio.pages.sign_in_adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_TOLERANCE = 1
SOCIALACCOUNT_ADAPTER = "studio.pages.sign_in_adapters.IdentityProviderAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_STORE_TOKENS = False
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "SCOPE": list(ENVIRONMENT.oidc_scopes),
        "APPS": [
            {
                "provider_id": OIDC_PROVIDER_ID,
                "name": OIDC_NAME,
                "client_id": ENVIRONMENT.oidc_client_id,
                "secret": ENVIRONMENT.oidc_client_secret,
                "settings": {"server_url": OIDC_ISSUER},
            }
        ],
    }
}

# Cookies belong to one address: behind https they never travel in the clear.
_IS_HTTPS = PUBLIC_URL is not None and PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _IS_HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Browsers keep cookies per host, not per port: two Studios on one machine must not sign each other out.
# Behind https they have the prefix that keeps a site of the same domain from setting them (RFC 6265bis 4.1.3.2).
SESSION_COOKIE_NAME = "studio_session" if PUBLIC_URL else f"studio_session_{PORT}"
CSRF_COOKIE_NAME = "studio_csrf" if PUBLIC_URL else f"studio_csrf_{PORT}"
if _IS_HTTPS:
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"__Host-{SESSION_COOKIE_NAME}", f"__Host-{CSRF_COOKIE_NAME}"
SESSION_COOKIE_AGE = ENVIRONMENT.session_days * 24 * 3600
CSRF_FAILURE_VIEW = "studio.pages.views.csrf_failure.csrf_failure"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# A year, for this name alone.
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if _IS_HTTPS else 0

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}

STATIC_URL = "/static/"
STATIC_ROOT = ENVIRONMENT.static_dir
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.is_dir()]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        # Hashed names and compressed forms are made by `manage.py prepare_site`; with DEBUG on nothing need be made.
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "studio.config.static_storage.HashedStaticFilesStorage"
        )
    },
}
# Pages name the hashed files alone, so a second copy of each is not kept.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG

# A bundle is at most 2 MiB of text, which JSON may escape to more.
BUNDLE_MAX_BYTES = 2 * 1024 * 1024
# Django's bound for a body outside of files: four texts as a form, each byte percent-encoded at worst.
DATA_UPLOAD_MAX_MEMORY_SIZE = 3 * BUNDLE_MAX_BYTES + 64 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 500
FILE_UPLOAD_MAX_MEMORY_SIZE = BUNDLE_MAX_BYTES

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    # Nobody is let in by default: each view of agent_api says who may.
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "agent_api.http.errors.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Capability Studio agent API",
    "DESCRIPTION": "List what exists, load what is needed, and get errors that can be acted on.",
    # Of the interface, which /api/v1 names too: it changes with the paths and shapes, not with each release.
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.0.3",
    "PREPROCESSING_HOOKS": ["agent_api.openapi.document.keep_described"],
    "POSTPROCESSING_HOOKS": ["agent_api.openapi.document.add_components"],
    "SERVE_INCLUDE_SCHEMA": False,
}

# Letters to members (registry/notifications/email.py): without a server in a variable, through the one of a page.
_MAIL = ENVIRONMENT.mail_server
EMAIL_BACKEND = "registry.notifications.mail_connection.open_connection"
if "EMAIL_URL" in ENVIRONMENT.given:
    EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if _MAIL else 'console'}.EmailBackend"
if _MAIL is not None:
    EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
    EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.encryption == "starttls", _MAIL.encryption == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = ENVIRONMENT.mail_from

# A worker that says nothing for so long has lost its job to another one.
JOB_LEASE_SECONDS = 60.0
# The pause after the first failure; each further one doubles it.
JOB_BACKOFF_SECONDS = 10.0
# With REDIS_URL, `manage.py worker` leaves a job to Celery for so long before it takes it for lost.
JOB_SWEEP_AFTER_SECONDS = 10.0

# Several publishes in a row are learned from once.
MATCHING_LEARN_AFTER_SECONDS = 1.0

# Several publishes in a row get one checkpoint.
CHECKPOINT_AFTER_SECONDS = 30.0

CELERY_BROKER_URL, _BROKER_OPTIONS = celery_broker(REDIS_URL) if REDIS_URL else (None, {})
CELERY_TASK_DEFAULT_QUEUE = "studio"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
# A message is done with when the job is: one that a killed worker had comes again, and the job's lease decides.
CELERY_TASK_ACKS_LATE = CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 300, "socket_connect_timeout": 2, **_BROKER_OPTIONS}
# A message carries a job's id alone; what came of it is kept in the job's row.
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Celery sets up logging of its own, which is text.
CELERY_WORKER_HIJACK_ROOT_LOGGER = ENVIRONMENT.log_format == "text"

LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING = logging_settings(log_format=ENVIRONMENT.log_format, access_log=ACCESS_LOG, debug=DEBUG)
