"""From operations to tool contracts, the same each time."""
