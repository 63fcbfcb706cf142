"""Git mirrors: branches that each release is pushed to."""
