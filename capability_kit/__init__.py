"""What server and agents share: digests, JSON Schema, front matter, text and triggers, prompt, names. No Django."""
