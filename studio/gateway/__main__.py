"""`python -m studio.gateway --host ADDRESS --port PORT [--workers N]`: what `serve` and run.py start."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

import django

from studio.config.environment import ConfigurationError


def main() -> int:
    """Serve until SIGTERM; returns the exit code."""
    parser = argparse.ArgumentParser(prog="studio.gateway")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    try:
        django.setup()
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    return _serve(options)


def _serve(options: argparse.Namespace) -> int:
    """After Django is set up, without which no model can be imported."""
    from django.conf import settings

    from agent_api.fast_path import FastPath, list_counts
    from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER
    from registry.snapshot import STORE, watcher
    from registry.usage import usage_counters
    from studio.gateway.server import Gateway

    def not_called(_environ: object, _start_response: object) -> list[bytes]:
        raise NotImplementedError

    # See `studio.wsgi`: the snapshot is read and bodies are rendered beside the loop.
    sys.setswitchinterval(0.0002)
    fast_path = FastPath(not_called)
    usage_counters.add_source(fast_path.collect)
    CIRCUIT_BREAKER.is_serving = True
    watcher.start_watcher()
    if settings.IS_TRACED:
        from registry.common import tracing_sdk

        tracing_sdk.start("gateway")
    gateway = Gateway(
        fast_path,
        settings.TRUSTED_PROXIES,
        connections_per_address=settings.CONNECTIONS_PER_ADDRESS,
        workers=options.workers,
        refresh=STORE.refresh,
        flush=usage_counters.flush,
        counts=list_counts,
    )
    return asyncio.run(gateway.serve(options.host, options.port))


if __name__ == "__main__":
    sys.exit(main())
