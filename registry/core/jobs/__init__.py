"""Work that is done behind a request: the outbox, who takes from it, and what is due each day."""
