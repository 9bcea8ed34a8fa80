"""Hypothesis strategies for small problems, corner cases included (needs Hypothesis)."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from biselect.core import Group, Rules, SelectionProblem


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


@st.composite
def ruled_problems(draw: st.DrawFn, max_samples: int = 6, max_features: int = 5) -> SelectionProblem:
    """Small problems with forced choices and limits on both sides, all of them feasible; features' limits overlap."""
    plain = draw(problems(max_samples, max_features))
    return replace(
        plain,
        sample_rules=draw(rules(plain.n_samples, plain.k)),
        feature_rules=draw(rules(plain.n_features, plain.m, overlap=True)),
    )


@st.composite
def rules(draw: st.DrawFn, length: int, budget: int, *, overlap: bool = False) -> Rules:
    """Rules that a random choice of `budget` items obeys, with limits that share members where these may `overlap`."""
    order = draw(st.permutations(range(length)))
    choice, rest = set(order[:budget]), order[budget:]
    labels = draw(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=length, max_size=length))
    groups = []
    for label in (0, 1, 2):
        members = tuple(item for item in range(length) if labels[item] == label)
        if members:
            at_least = len(choice.intersection(members))
            groups.append(Group(members=members, at_most=draw(st.integers(at_least, len(members)))))
    overlapping = []
    for shared in draw(st.lists(st.sets(st.integers(0, length - 1)), max_size=3)) if overlap else ():
        at_least = len(choice & shared)
        overlapping.append(Group(members=shared, at_most=draw(st.integers(at_least, max(at_least, len(shared) - 1)))))
    return Rules(
        forced_in=tuple(order[: draw(st.integers(0, budget))]) if draw(st.booleans()) else (),
        forced_out=tuple(rest[: draw(st.integers(0, len(rest)))]) if draw(st.booleans()) else (),
        groups=tuple(groups),
        overlapping=overlapping,
    )


@st.composite
def blocked_problems(draw: st.DrawFn, max_samples: int = 6, max_features: int = 5) -> SelectionProblem:
    """Small problems with forced choices and groups of which exactly so many are chosen: rules that circuits keep."""
    n, d = draw(st.integers(1, max_samples)), draw(st.integers(1, max_features))
    k, m = draw(st.integers(1, n)), draw(st.integers(1, d))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)),
        sample_scores=rng.normal(size=n),
        feature_scores=rng.normal(size=d),
        coupling_weight=draw(st.sampled_from([0.0, 0.7, 1.0])),
        k=k,
        m=m,
        sample_rules=draw(blocked_rules(n, k)),
        feature_rules=draw(blocked_rules(d, m)),
    )


@st.composite
def blocked_rules(draw: st.DrawFn, length: int, budget: int) -> Rules:
    """Forced choices and exact groups that a random choice of `budget` items obeys."""
    order = draw(st.permutations(range(length)))
    choice, rest = order[:budget], order[budget:]
    labels = draw(st.lists(st.sampled_from([None, 0, 1]), min_size=length, max_size=length))
    groups = [[item for item in range(length) if labels[item] == label] for label in (0, 1)]
    return Rules(
        forced_in=choice[: draw(st.integers(0, min(2, budget)))],
        forced_out=rest[: draw(st.integers(0, min(2, len(rest))))],
        groups=[Group(members=part, exactly=len(set(choice).intersection(part))) for part in groups if part],
    )
