"""Git repositories and other registries that are followed: what changes there becomes a draft here, or is published."""
