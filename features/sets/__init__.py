"""Named lists of capabilities that are installed as one, as plugins of several clients."""
