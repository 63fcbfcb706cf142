"""Is a bundle valid, what changed, what does it do? Files and texts alone: no Django, no database, no network."""
