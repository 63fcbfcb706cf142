"""Is the stored history what was signed and recorded? In the database, in a backup, in an exported log."""
