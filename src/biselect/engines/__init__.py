"""Who runs a pass over the parts of a table: threads of this machine or a Dask cluster."""
