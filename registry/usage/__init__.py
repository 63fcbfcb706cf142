"""How capabilities fare with those who use them: loads, feedback, and what was asked for in vain."""
