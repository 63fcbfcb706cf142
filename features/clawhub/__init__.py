"""The ClawHub protocol of its command line: search, inspect, install, update and publish (docs/contract.md 6)."""
