"""What people look through: the first page, the list of capabilities, the audit log."""
