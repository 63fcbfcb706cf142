"""Django's PostgreSQL backend, with a bound for every wait (`ENGINE = "registry.common.postgresql"`)."""
