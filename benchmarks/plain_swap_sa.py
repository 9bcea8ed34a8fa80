"""Algorithm S1 in plain Python: the objective of every proposal is added up from its k·m cells."""

import math
import random


def proposals_per_second(W: list[list[float]], k: int, m: int, temperature: float, steps: int) -> float:
    """Walk at a constant temperature, and say how fast."""
    import time

    rng = random.Random(0)
    n, d = len(W), len(W[0])
    s, f = rng.sample(range(n), n), rng.sample(range(d), d)

    def objective() -> float:
        return sum(W[i][j] for i in s[:k] for j in f[:m])

    begin = time.perf_counter()
    score = best = objective()
    for _ in range(steps):
        kind = rng.random()
        with_sample, with_feature = kind <= 0.4 or kind > 0.8, kind > 0.4
        p, p_in = rng.randrange(k), rng.randrange(k, n)
        q, q_in = rng.randrange(m), rng.randrange(m, d)
        if with_sample:
            s[p], s[p_in] = s[p_in], s[p]
        if with_feature:
            f[q], f[q_in] = f[q_in], f[q]
        new = objective()
        if new >= score or rng.random() <= math.exp((new - score) / temperature):
            score = new
            best = max(best, score)
            continue
        if with_sample:
            s[p], s[p_in] = s[p_in], s[p]
        if with_feature:
            f[q], f[q_in] = f[q_in], f[q]
    return steps / (time.perf_counter() - begin)
