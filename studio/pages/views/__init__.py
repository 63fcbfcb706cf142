"""The Studio's pages, one module a noun: translate the request, make one call into `registry/`, render."""
