#!/usr/bin/env python
"""Django's command line. `python3 run.py manage ARGS...` runs it inside `.venv`."""

from studio.launcher.manage import main

if __name__ == "__main__":
    main()
