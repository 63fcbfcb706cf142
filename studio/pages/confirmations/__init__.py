"""What the Studio asks before an irreversible action, and the page that asks it."""
