"""One module for each metric, or for a few that belong together."""
