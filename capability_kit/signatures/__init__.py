"""Signatures of a registry: of each revision, and of the checkpoints of its history (docs/security/signatures.md)."""
