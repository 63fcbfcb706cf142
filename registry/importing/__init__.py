"""Where bundles come from: folders, archives, git, file by file; what is read is never trusted."""
