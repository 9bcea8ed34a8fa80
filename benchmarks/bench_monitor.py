"""Does `monitor` alarm when it should, and only then? Beside two-sample Kolmogorov–Smirnov with Bonferroni.

    python benchmarks/bench_monitor.py                  # all of it; the Credit Card part needs BISELECT_DATA
    python benchmarks/bench_monitor.py quiet            # one part: quiet, windows, power, categories or card

Quiet tables mix 20 columns of numbers (normal, heavy-tailed, rounded, mostly zero), 4 flags, 4 columns of categories
(5 and 200 values) and 2 with missing cells. A run is a false alarm if any column alarms. The peer tests number columns
only, with `scipy.stats.ks_2samp`, and divides 0.05 by their number.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import binomtest, chi2_contingency, ks_2samp

import biselect as bs
from biselect.options import Watch
from biselect.tables.readers import read_table
from biselect_studies.data.creditcard import find_credit_card

LEVEL = 0.05
SIZES = ((100, 100, 500), (1000, 1000, 200), (100, 20_000, 150), (10_000, 10_000, 50), (100_000, 100_000, 40))


def quiet_table(rng: np.random.Generator, rows: int) -> pa.Table:
    """Columns of every kind, independent and without any change."""
    columns = {}
    for j in range(5):
        columns[f"normal{j}"] = rng.normal(size=rows)
        columns[f"heavy{j}"] = rng.standard_t(1.5, size=rows)
        columns[f"rounded{j}"] = rng.poisson(2 + j, size=rows).astype(float)
        columns[f"zeros{j}"] = np.where(rng.random(rows) < 0.8, 0.0, rng.lognormal(size=rows))
    for j, share in enumerate((0.5, 0.1, 0.01, 0.001)):
        columns[f"flag{j}"] = (rng.random(rows) < share).astype(int)
    for j, values in enumerate((5, 5, 200, 200)):
        chances = 1 / np.arange(1, values + 1) ** (1 + j % 2)
        columns[f"category{j}"] = rng.choice([f"c{v}" for v in range(values)], rows, p=chances / chances.sum())
    for j, share in enumerate((0.2, 0.005)):
        columns[f"missing{j}"] = np.where(rng.random(rows) < share, np.nan, rng.normal(size=rows))
    return pa.table(columns)


def peer_alarms(older: pa.Table, newer: pa.Table) -> bool:
    """Kolmogorov–Smirnov with Bonferroni, over columns of numbers."""
    names = [name for name in older.column_names if not pa.types.is_string(older[name].type)]
    pairs = [[table[name].to_numpy() for table in (older, newer)] for name in names]
    return any(ks_2samp(*(side[~np.isnan(side)] for side in pair)).pvalue <= LEVEL / len(names) for pair in pairs)


def share(alarms: list[bool]) -> str:
    """With a 95 % interval."""
    low, high = binomtest(sum(alarms), len(alarms)).proportion_ci()
    return f"{100 * np.mean(alarms):5.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {len(alarms)}"


def quiet() -> None:
    """False alarms where nothing has changed."""
    print("false alarms, 30 quiet columns of every kind (at most 5 % promised)")
    for newer, older, runs in SIZES:
        ours, peers = [], []
        for seed in range(runs):
            rng = np.random.default_rng([seed, newer, older])
            before, after = quiet_table(rng, older), quiet_table(rng, newer)
            ours.append(bs.monitor(after, before)["crossed"])
            peers.append(peer_alarms(before, after))
        print(f"  {newer:>7,} rows against {older:>7,}: monitor {share(ours)}, KS + Bonferroni {share(peers)}")


def windows() -> None:
    """The same over many windows of one table: the family is windows times columns."""
    print("false alarms, 20 older windows of 200 rows against the newest")
    alarms = [
        bs.monitor(quiet_table(np.random.default_rng([seed, 7]), 21 * 200), watch=Watch(window=200))["crossed"]
        for seed in range(60)
    ]
    print(f"  monitor {share(alarms)}")


def categories() -> None:
    """Ten equal shares, 1,000 rows a table: one share grows, one takes from another, or all move a little."""
    print("power: categories, at a thirtieth of 5 %, beside the chi-square test of scipy.stats")
    names, rng = [f"c{j}" for j in range(10)], np.random.default_rng(0)
    signs = {"one grows by .06": [0.06] + [-0.06 / 9] * 9, "one takes .05": [0.05, -0.05] + [0] * 8}
    for words, moves in {**signs, "all move by .025": [0.025, -0.025] * 5}.items():
        ours, peers = [], []
        for _ in range(200):
            before, after = rng.multinomial(1000, np.full(10, 0.1)), rng.multinomial(1000, 0.1 + np.array(moves))
            older, newer = (pa.table({"x": np.repeat(names, counts)}) for counts in (before, after))
            ours.append(bs.monitor(newer, older, watch=Watch(false_alarms=LEVEL / 30))["crossed"])
            peers.append(chi2_contingency([before, after]).pvalue <= LEVEL / 30)
        print(f"  {words}: monitor {share(ours)}, chi-square {share(peers)}")


def power() -> None:
    """One of 30 columns shifted."""
    print("power: one of 30 normal columns shifted, equal sizes")
    for rows in (100, 300, 1000, 3000):
        for shift in (0.25, 0.5, 1.0):
            ours, peers = [], []
            for seed in range(200):
                rng = np.random.default_rng([seed, rows, round(100 * shift)])
                before, after = rng.normal(size=(2, rows, 30))
                after[:, 3] += shift
                older, newer = (pa.table({str(j): X[:, j] for j in range(30)}) for X in (before, after))
                ours.append(bs.monitor(newer, older)["crossed"])
                peers.append(peer_alarms(older, newer))
            print(f"  {rows:>5,} rows, {shift:.2f} sd: monitor {share(ours)}, KS + Bonferroni {share(peers)}")


def card() -> None:
    """Rows of the Credit Card table in random order, one column shifted by shares of its standard deviation."""
    table = read_table(find_credit_card())
    table = table.drop_columns(["Time", "Class"])
    print("Credit Card: alarms in 10 draws of rows against as many others, V6 shifted")
    for rows in (100, 3000, 100_000):
        for shift in (0.0, 0.25, 0.5, 1.0):
            ours, peers = [], []
            for seed in range(10):
                drawn = np.random.default_rng([seed, rows]).permutation(len(table))[: 2 * rows]
                older, newer = table.take(drawn[:rows]), table.take(drawn[rows:])
                V6 = newer["V6"].to_numpy()
                newer = newer.set_column(newer.column_names.index("V6"), "V6", pa.array(V6 + shift * V6.std()))
                ours.append(bs.monitor(newer, older)["crossed"])
                peers.append(peer_alarms(older, newer))
            print(f"  {rows:>7,} rows, {shift:.2f} sd: monitor {sum(ours)} of 10, KS + Bonferroni {sum(peers)} of 10")


if __name__ == "__main__":
    for name in sys.argv[1:] or ["quiet", "windows", "power", "categories", "card"]:
        start = time.perf_counter()
        {"quiet": quiet, "windows": windows, "power": power, "categories": categories, "card": card}[name]()
        print(f"  ({Path(__file__).name} {name}: {time.perf_counter() - start:.0f} s)")
