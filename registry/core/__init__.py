"""What every write needs: transactions, the audit log, idempotency and jobs."""
