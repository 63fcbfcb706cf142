"""What has no domain: actors, errors, rate limits, outbound HTTP and the PostgreSQL backend."""
