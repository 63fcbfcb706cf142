"""What every endpoint has in common."""
