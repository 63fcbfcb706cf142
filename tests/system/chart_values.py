"""The sets of values that the chart is rendered with, and those that it refuses."""

from __future__ import annotations

from typing import Any

SECRETS = {"SECRET_KEY": "of-the-test-alone-" * 3, "DATABASE_URL": "postgresql://studio@db/studio"}
LEAST = {"publicUrl": "https://studio.example.com", "secrets": {"values": SECRETS}}
OWN_SECRET = {"existingSecret": "own", "keys": ["SECRET_KEY", "DATABASE_URL", "REDIS_URL"]}
SETS: dict[str, dict[str, Any]] = {
    "three values": LEAST,
    "a secret of one's own": {**LEAST, "secrets": OWN_SECRET, "backup": {"enabled": True, "claim": "backups"}},
    "signing key and settings": {
        **LEAST,
        "secrets": {**OWN_SECRET, "signingKeySecret": "signing"},
        "settings": {"TRUSTED_PROXIES": "10.0.0.0/8", "WEB_THREADS": 6, "KEEP_CONVERSATIONS": True},
    },
    "sentinels": {
        **LEAST,
        "secrets": {"values": {**SECRETS, "REDIS_URL": "sentinel://a:26379,b:26379/main"}},
    },
    "ingress": {
        **LEAST,
        "ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a.example/b": "c"}},
    },
    "gateway": {**LEAST, "httpRoute": {"enabled": True, "parentRefs": [{"name": "public", "namespace": "gateways"}]}},
    "watched": {
        **LEAST,
        "metrics": {
            "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
            "prometheusRule": {"enabled": True},
            "keySecret": {"name": "key"},
        },
    },
    "scaled and closed": {
        **LEAST,
        "webAgents": {"autoscaling": {"enabled": True}, "tolerations": [{"key": "a", "operator": "Exists"}]},
        "networkPolicy": {
            "enabled": True,
            "from": [{"namespaceSelector": {}}],
            "metricsFrom": [{"podSelector": {}}],
            "egress": [{}],
        },
        "podLabels": {"team": "platform"},
    },
    "backed up": {
        **LEAST,
        "backup": {"enabled": True, "claim": "backups"},
        "checkpoint": {"storageClass": "fast"},
        "image": {"digest": f"sha256:{'a' * 64}", "pullSecrets": [{"name": "pull"}]},
        "serviceAccount": {"name": "own"},
    },
}
REFUSED = {
    "nothing": ({}, "publicUrl is missing"),
    "no database": ({**LEAST, "secrets": {"values": {"SECRET_KEY": "a"}}}, "DATABASE_URL is missing"),
    "a misspelt value": ({**LEAST, "webAgent": {}}, "webAgent"),
    "an address with a path": ({**LEAST, "publicUrl": "https://studio.example.com/x"}, "publicUrl"),
    "no gateway": ({**LEAST, "httpRoute": {"enabled": True}}, "parentRefs is missing"),
    "no claim": ({**LEAST, "backup": {"enabled": True}}, "backup.claim is missing"),
}
