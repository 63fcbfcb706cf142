"""Tags of the templates that show findings."""
