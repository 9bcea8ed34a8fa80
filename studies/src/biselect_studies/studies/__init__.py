"""One module a group of tables and figures of the paper."""
