"""Reviews of tables that no memory holds: a few passes over their parts, then the same answer from the rows kept."""
