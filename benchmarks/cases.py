"""The classes of instances that solvers are timed on."""

import numpy as np

from biselect.core import SelectionProblem

Size = tuple[int, int, int, int]


def instance(kind: str, size: Size, seed: int) -> SelectionProblem:
    """|Z| of Gaussian noise, with a block of ±3 planted: exactly m features wide, twice as wide, or none at all.

    The kind "binary" is a table of fair coin flips.
    """
    n, d, k, m = size
    rng = np.random.default_rng(seed)
    if kind == "binary":
        return SelectionProblem(coupling=(rng.random((n, d)) < 0.5).astype(float), k=k, m=m)
    X = 0.5 * rng.normal(size=(n, d))
    width = {"planted": m, "twice-wide": min(2 * m, d), "noise": 0}[kind]
    block = np.ix_(rng.choice(n, k, replace=False), rng.choice(d, width, replace=False))
    X[block] = 3.0 * rng.choice([-1.0, 1.0], size=(k, width)) + 0.3 * rng.normal(size=(k, width))
    return SelectionProblem(coupling=np.abs((X - X.mean(axis=0)) / X.std(axis=0)), k=k, m=m)


def million(kind: str, seed: int, n: int = 1_000_000, d: int = 200, k: int = 100, m: int = 8) -> SelectionProblem:
    """A column-major float32 table of |Gaussian|, shared with the problem rather than copied."""
    rng = np.random.default_rng(seed)
    columns = np.empty((d, n), dtype=np.float32)
    for column in columns:
        rng.standard_normal(dtype=np.float32, out=column)
        np.abs(column, out=column)
    width = {"planted": m, "twice-wide": 2 * m, "noise": 0}[kind]
    block = np.ix_(rng.choice(d, width, replace=False), rng.choice(n, k, replace=False))
    columns[block] = 5.5 + 0.5 * rng.standard_normal((width, k), dtype=np.float32)
    columns.flags.writeable = False
    return SelectionProblem(coupling=columns.T, k=k, m=m)
