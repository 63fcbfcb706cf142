#!/usr/bin/env python3
"""Set up and start Capability Studio; see `python3 run.py --help`.

This file is the door alone: it is written so that any Python since 2.7 can read it, and refuses with a sentence the
versions that cannot run the rest. What it does is in `studio/launcher/`, which needs the standard library only.
"""

from __future__ import print_function

import os
import sys

OLDEST = (3, 11)
NEWEST = (3, 14)


def python_refusal(version):
    """Why this Python cannot run Capability Studio and what to do, or None."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return None
    found = _suitable_python()
    if found:
        fix = "start it with the one that is here: %s run.py" % found
    else:
        fix = "install one (Debian 12, Ubuntu: apt install python3 python3-venv) and start it with: python3.11 run.py"
    came = ".".join(str(part) for part in version[:3])
    return "Capability Studio needs Python 3.11 to 3.14, and this is Python %s. Fix: %s" % (came, fix)


def _suitable_python():
    """The name of a Python on the search path that would do."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = "python3.%d" % minor
        for directory in os.environ.get("PATH", "").split(os.pathsep):
            # A version manager puts a stub there for every version, whether it can be started here or not.
            path = os.path.join(directory, name)
            if os.access(path, os.X_OK) and "shims" not in path:
                return name
    return None


def main():
    """The exit code of the command that was given."""
    refusal = python_refusal(sys.version_info)
    if refusal:
        print(refusal, file=sys.stderr)
        return 1
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from studio.launcher.commands import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
