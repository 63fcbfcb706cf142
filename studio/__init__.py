"""The operator's pages and the project package: settings, root URLs, WSGI.

Every process of the product imports this package first: the gateway, the application, workers and commands. `run.py`
does before anything is installed, so that nothing but the standard library is imported here.
"""

from capability_rules.numeric_threads import limit_numeric_threads

limit_numeric_threads()
