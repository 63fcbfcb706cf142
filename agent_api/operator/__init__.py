"""The operator API: what the command line does, over HTTP, for keys with the scope `publish` (docs/contract.md 5)."""
