"""Where bundles are: folders, archives, a bare SKILL.md, searched to any depth."""
