"""The ClawHub protocol as its command line speaks it: search, inspect, install, update and publish (CONTRACT 6)."""
