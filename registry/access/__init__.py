"""Access control: operators, teams, agent keys, share links and install codes."""
