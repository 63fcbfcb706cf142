"""How much of the product one publish imports: `python bench/publish_imports.py`, with FEATURES as in the settings.

A new data directory, one publish of an example in one process; prints how many modules of the product are imported
then, and how many lines they have, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("registry", "features", "agent_api", "studio", "capability_kit", "capability_rules", "capability_client")


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from django.core.management import call_command

    from registry.common.actors import SYSTEM
    from registry.publishing import publication

    call_command("migrate", verbosity=0)
    folder = ROOT / "examples" / "weights"
    outcome = publication.publish(files={path.name: path.read_bytes() for path in folder.glob("*.*")}, by=SYSTEM)
    if outcome.status != "published":
        raise SystemExit(f"not published: {outcome.findings}")
    # Migrations are imported by the preparation of this measurement.
    found = [name for name in sys.modules if name.partition(".")[0] in PACKAGES and ".migrations" not in name]
    files = {getattr(sys.modules[name], "__file__", None) for name in found}
    lines = sum(len(Path(path).read_text("utf-8").splitlines()) for path in files if path)
    print(json.dumps({"modules": len(found), "lines": lines}))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="bench-imports-") as directory:
        os.environ |= {"DATA_DIR": directory, "EMBEDDER": "none", "DJANGO_SETTINGS_MODULE": "studio.settings"}
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        main()
