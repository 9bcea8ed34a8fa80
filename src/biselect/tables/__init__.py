"""Where tables come from: files, time splits, and the excerpt that ships with the package."""
