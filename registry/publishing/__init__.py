"""The way to a release: what stands before it, who looks at it, when it happens. `registry.publishing.publication` does it."""
