"""nginx with the same bytes as files, as a static site would serve them: one worker, no log."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

_CONFIGURATION = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr error;
events {{ worker_connections 1024; }}
http {{
  access_log off; default_type application/json; sendfile on; keepalive_requests 1000000000; keepalive_timeout 60s;
  open_file_cache max=100; open_file_cache_valid 60s;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{
    listen 127.0.0.1:{port};
    location = /api/v1/capability_registry_list {{ alias {folder}/list; }}
    location = /api/v1/capability_skill_load {{ gzip_static on; alias {folder}/load; }}
  }}
}}
"""


def command(folder: Path, port: int) -> list[str]:
    """Write its files from the answers that were saved in `folder`; returns what to run."""
    own = folder / "nginx"
    own.mkdir()
    # Its worker may be another user.
    for one in (own, folder):
        one.chmod(0o755)
    for name, saved in (("list", "capability_registry_list"), ("load", "capability_skill_load")):
        body = json.loads((folder / f"{saved}.json").read_text())["body"].encode()
        (own / name).write_bytes(body)
        (own / f"{name}.gz").write_bytes(gzip.compress(body, compresslevel=6, mtime=0))
    (own / "nginx.conf").write_text(_CONFIGURATION.format(folder=own, port=port))
    return ["nginx", "-p", str(own), "-c", str(own / "nginx.conf")]
