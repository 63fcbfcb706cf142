"""Who may do what: people, teams, keys of agents, and links and codes that let somebody in."""
