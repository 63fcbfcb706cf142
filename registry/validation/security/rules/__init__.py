"""Rules that look for phrases: one module for each attack."""
