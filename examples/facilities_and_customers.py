"""Where do three warehouses go, and which six of twelve cities should they serve?

    python examples/facilities_and_customers.py

Cities, with people in millions and places to a tenth of a degree, are both sites and customers. Serving a city earns by
its people; carrying goods costs by people and distance. Each warehouse keeps its own part of the goods, so every city
is served by all of them: a pair costs 1/k of the city's transport.

What the objective says: exactly that, a sum over all pairs of a warehouse and a city.
What it cannot say: that a city is served by its nearest warehouse alone. That is another problem (k-median). The last
line gives the best answer to it, by listing all sites, and what our choice earns under it.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from biselect import SelectionProblem, solve

CITIES = {
    "Berlin": (52.5, 13.4, 3.7), "Hamburg": (53.6, 10.0, 1.9), "Munich": (48.1, 11.6, 1.5),
    "Cologne": (50.9, 7.0, 1.1), "Frankfurt": (50.1, 8.7, 0.8), "Stuttgart": (48.8, 9.2, 0.6),
    "Leipzig": (51.3, 12.4, 0.6), "Bremen": (53.1, 8.8, 0.6), "Dresden": (51.1, 13.7, 0.6),
    "Hanover": (52.4, 9.7, 0.5), "Nuremberg": (49.5, 11.1, 0.5), "Kiel": (54.3, 10.1, 0.2),
}  # fmt: skip
K, M, EARNED = 3, 6, 4.0  # earned per million people; carrying a million's goods costs 1 per 100 km


def costs() -> np.ndarray:
    """What it costs to serve each city (column) from each site (row)."""
    places = np.array([city[:2] for city in CITIES.values()])
    north, east = 111.0 * np.moveaxis(places[:, None] - places, 2, 0)
    return np.hypot(north, 0.63 * east) / 100 * people()


def people() -> np.ndarray:
    """Millions in each city."""
    return np.array([city[2] for city in CITIES.values()])


def problem() -> SelectionProblem:
    """Earnings on the cities, transport on the pairs."""
    names = {"sample_names": tuple(CITIES), "feature_names": tuple(CITIES)}
    return SelectionProblem(coupling=-costs() / K, feature_scores=EARNED * people(), k=K, m=M, **names)


def nearest(sites: Sequence[int]) -> float:
    """What the best m cities earn if each is served by the nearest of these sites."""
    return float(np.sort(EARNED * people() - costs()[list(sites)].min(axis=0))[-M:].sum())


if __name__ == "__main__":
    best = solve(problem())
    print(f"warehouses: {', '.join(best.sample_names)}; cities: {', '.join(best.feature_names)}")
    print(f"  earns {best.score:.2f}, proven optimal: {best.proven_optimal}")
    single = max(combinations(range(len(CITIES)), K), key=nearest)
    print(f"if the nearest warehouse serves alone: these earn {nearest(best.samples):.2f}, the best")
    print(f"  sites ({', '.join(list(CITIES)[i] for i in single)}) {nearest(single):.2f}")
