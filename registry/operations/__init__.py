"""Running the registry: worker, housekeeping, metrics, backups and the first start."""
