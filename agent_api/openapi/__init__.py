"""The OpenAPI document: the endpoints from the code, every body from `schemas/`."""
