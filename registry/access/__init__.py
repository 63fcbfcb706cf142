"""Access control: operators, teams, agent keys, and how people sign in."""
