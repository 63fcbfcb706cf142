"""Secrets that the registry sends to others: named, encrypted, and bound to the hosts that may get them."""
