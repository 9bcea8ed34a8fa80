"""What the paper adds to biselect: maps, solvers and drift of weights, registered by entry points."""
