"""Capabilities and their texts: drafts, exports, integrity and incidents."""
