"""The operator's pages and the project package: settings, root URLs, WSGI.

Kept empty on purpose: `run.py` imports `studio.config.environment` and `studio.launcher` before anything is installed.
"""
