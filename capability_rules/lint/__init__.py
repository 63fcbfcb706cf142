"""`capability-lint`: the checks of the registry for folders, archives and pull requests, without a server."""

from capability_rules.numeric_threads import limit_numeric_threads

# The command begins here.
limit_numeric_threads()
