"""The maps that the studies compare: those of the paper and those that were there when their tables were made."""

LABEL_FREE = ("ecdf", "conformal", "gaussian", "abs-z", "mad-z", "student-t", "laplace", "pareto")
STUDIED = (*LABEL_FREE, "logistic")
