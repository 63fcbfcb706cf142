"""The operator's pages and the project package: settings, root URLs, WSGI.

Kept empty on purpose: `run.py` imports `studio.environment` and `studio.launch` before anything is installed.
"""
