"""The domain: what a bundle is, when it is valid, how it is published. Speaks no HTTP."""
