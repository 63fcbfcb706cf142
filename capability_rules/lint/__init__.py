"""`capability-lint`: the checks of the registry for folders, archives and pull requests, without a server."""
