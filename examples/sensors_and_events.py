"""Which four towns should get a seismometer, and which five earthquakes would they have recorded best together?

    python examples/sensors_and_events.py

Sites are Californian towns, events are known earthquakes (year, magnitude, place to a tenth of a degree). A pair's
weight is how far the shaking stands above the noise, by a plain law: magnitude minus twice the log of the distance.

What the objective says: the sum over all chosen pairs, as for locating events, which takes many stations an event.
What it cannot say: coverage. An event heard by four stations counts four times, not once, so stations crowd together.
A limit per region spreads them; the last lines tell how far that is from the best coverage, found by listing all.
"""

from itertools import combinations

import numpy as np

from biselect import Rules, SelectionProblem, solve
from biselect.core import groups_by

SITES = {
    "Eureka": (40.8, -124.2, "north"), "Redding": (40.6, -122.4, "north"), "Sacramento": (38.6, -121.5, "north"),
    "Santa Rosa": (38.4, -122.7, "bay"), "Oakland": (37.8, -122.3, "bay"), "San Jose": (37.3, -121.9, "bay"),
    "Fresno": (36.7, -119.8, "mid"), "Paso Robles": (35.6, -120.7, "mid"), "Bakersfield": (35.4, -119.0, "mid"),
    "Barstow": (34.9, -117.0, "south"), "Los Angeles": (34.1, -118.2, "south"), "El Centro": (32.8, -115.6, "south"),
}  # fmt: skip
EVENTS = {
    "Coalinga 1983": (36.2, -120.3, 6.2), "Morgan Hill 1984": (37.3, -121.7, 6.2),
    "Whittier 1987": (34.1, -118.1, 5.9), "Loma Prieta 1989": (37.0, -121.9, 6.9),
    "Landers 1992": (34.2, -116.4, 7.3), "Petrolia 1992": (40.3, -124.2, 7.2),
    "Northridge 1994": (34.2, -118.5, 6.7), "Hector Mine 1999": (34.6, -116.3, 7.1),
    "San Simeon 2003": (35.7, -121.1, 6.5), "Parkfield 2004": (35.8, -120.4, 6.0),
    "Napa 2014": (38.2, -122.3, 6.0), "Ridgecrest 2019": (35.8, -117.6, 7.1),
}  # fmt: skip
K, M, STRONG = 4, 5, 2.0  # a weight above STRONG is a good record


def problem(per_region: int = K) -> SelectionProblem:
    """Weights of all pairs; at most `per_region` stations in a region."""
    sites = np.array([site[:2] for site in SITES.values()])
    events = np.array([event[:2] for event in EVENTS.values()])
    north, east = 111.0 * np.moveaxis(sites[:, None] - events, 2, 0)  # km
    distance = np.hypot(np.hypot(north, 0.8 * east), 10.0)  # the quakes lie some 10 km deep
    weights = np.array([event[2] for event in EVENTS.values()]) - 2 * np.log10(distance)
    rules = Rules(groups=groups_by([site[2] for site in SITES.values()], at_most=per_region))
    names = {"sample_names": tuple(SITES), "feature_names": tuple(EVENTS)}
    return SelectionProblem(coupling=weights, k=K, m=M, sample_rules=rules, **names)


if __name__ == "__main__":
    strong = problem().coupling > STRONG
    for words, asked in (("anywhere", problem()), ("at most one a region", problem(per_region=1))):
        best = solve(asked)
        covered = strong[best.samples].any(axis=0).sum()
        print(f"{words}: {', '.join(best.sample_names)}; events: {', '.join(best.feature_names)}")
        print(f"  score {best.score:.2f}, proven optimal: {best.proven_optimal}; {covered} events have a good record")
    most = max(strong[list(chosen)].any(axis=0).sum() for chosen in combinations(range(len(SITES)), K))
    print(f"most events that any {K} sites cover: {most}")
