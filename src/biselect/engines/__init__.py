"""Who runs a pass over the parts of a table: threads of this machine, a Dask cluster or a Ray cluster."""
