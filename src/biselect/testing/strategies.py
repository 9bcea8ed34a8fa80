"""Hypothesis strategies for small problems, corner cases included (needs Hypothesis)."""

import numpy as np
from hypothesis import strategies as st

from biselect.core import SelectionProblem


@st.composite
def problems(draw: st.DrawFn, max_samples: int = 6, max_features: int = 5) -> SelectionProblem:
    """Small problems: ties, negative weights, N = 1, D = 1, k = N and m = D among them."""
    n = draw(st.integers(1, max_samples))
    d = draw(st.integers(1, max_features))
    numbers = draw(
        st.sampled_from(
            [
                st.integers(-2, 2).map(float),  # ties
                st.floats(-10, 10, allow_subnormal=False),
                st.floats(-1e6, 1e6, allow_subnormal=False),
            ]
        )
    )
    return SelectionProblem(
        coupling=np.array(draw(st.lists(numbers, min_size=n * d, max_size=n * d))).reshape(n, d),
        sample_scores=np.array(draw(st.lists(numbers, min_size=n, max_size=n))),
        feature_scores=np.array(draw(st.lists(numbers, min_size=d, max_size=d))),
        coupling_weight=draw(st.sampled_from([0.0, 0.3, 1.0, 2.0])),
        k=draw(st.integers(1, n)),
        m=draw(st.integers(1, d)),
    )
