"""Who may do what, by the audit log and by the tables, and where the two differ."""
