"""AML features at the size of the published HI-Small file: under 2 minutes and within 4 GiB.

Transactions are generated and written as a CSV in the published schema by one process; another reads the CSV and
computes the 38 features, so that its peak memory is its own. For a ratio, polars' own rolling windows do the counts
and sums of a sender's three windows in the same process; they cannot do the sender's windows as a receiver.

    python benchmarks/bench_aml.py                      # 5,000,000 transactions
    python benchmarks/bench_aml.py --rows 500_000
    python benchmarks/bench_aml.py --areas              # how well one feature alone tells generated laundering
"""

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

from biselect_studies.data.aml_features import DAY, HOUR, WEEK, Ledger, causal_features
from biselect_studies.data.aml_generator import Market
from biselect_studies.data.aml_schema import TIME_FORMAT, load_transactions

GIB = 1 << 30


def write(rows: int, path: str) -> None:
    """Runs in a child process."""
    Market(transactions=rows, strangers=True).table(seed=0).write_csv(path, datetime_format=TIME_FORMAT)


def measure(path: str, results: str) -> None:
    """Runs in a child process: the CSV to features, then our window count against polars' own."""
    import polars as pl

    clock, processor = time.perf_counter(), time.process_time()
    transactions = load_transactions(path)
    read = time.perf_counter() - clock
    features = causal_features(transactions)
    total, worked = time.perf_counter() - clock, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB
    print(f"{len(transactions):,} transactions to {features.width} features: read {read:.1f} s, in all {total:.1f} s")
    print(f"processor time of all threads {worked:.1f} s, peak memory {peak:.2f} GiB (claim: 120 s and 4 GiB)")

    frame = transactions.frame.select("minute", "sender", units=pl.col("paid").cast(pl.Int64)).sort("sender", "minute")
    clock = time.perf_counter()
    ledger = Ledger.of(frame["sender"], frame["minute"], {"units": frame["units"]}, {})
    past = ledger.ask(frame["sender"], frame["minute"])
    places = [past.since(window) for window in (HOUR, DAY, WEEK)]
    mine = [(past.count(place), past.total("units", place)) for place in places]
    ours = time.perf_counter() - clock
    clock = time.perf_counter()
    theirs = [
        frame.rolling("minute", period=f"{window}i", closed="left", group_by="sender").agg(pl.len(), pl.sum("units"))
        for window in (HOUR, DAY, WEEK)
    ]
    peers = time.perf_counter() - clock
    for (count, total_units), peer in zip(mine, theirs, strict=True):
        assert peer["len"].cast(pl.Int64).equals(count.rename("len")) and peer["units"].equals(
            total_units.rename("units")
        )
    print(f"counts and sums of 3 windows: ledger {ours:.2f} s, polars rolling {peers:.2f} s, ratio {peers / ours:.1f}")
    found = {"rows": len(transactions), "seconds": total, "processor_seconds": worked, "peak_gib": peak}
    Path(results).write_text(json.dumps({**found, "ledger": ours, "polars_rolling": peers}, indent=1) + "\n")


def areas() -> None:
    """The features with the largest area under the ROC curve, whichever way round."""
    from sklearn.metrics import roc_auc_score

    markets = [Market(transactions=60_000), Market(transactions=20_000, laundering=0.01), Market(transactions=500_000)]
    for market in [*markets, Market(transactions=500_000, strangers=True)]:
        for seed in range(4):
            table = market.generate(seed=seed)
            features, labels = causal_features(table), table.frame["label"].to_numpy()
            found = {name: roc_auc_score(labels, features[name].to_numpy()) for name in features.columns}
            ranked = sorted(((max(area, 1 - area), name) for name, area in found.items()), reverse=True)[:3]
            told = ", ".join(f"{name} {area:.3f}" for area, name in ranked)
            print(f"{table.source}, {labels.sum()} laundering{', strangers' * market.strangers}: {told}")


def main() -> None:
    """Generate, then measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--out", default=str(Path(__file__).parent / "results" / "aml.json"))
    parser.add_argument("--areas", action="store_true")
    options = parser.parse_args()
    if options.areas:
        return areas()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "HI-Small_Trans.csv")
        for target, arguments in ((write, (options.rows, path)), (measure, (path, options.out))):
            child = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
            child.start()
            child.join()
            if child.exitcode:
                raise SystemExit(child.exitcode)


if __name__ == "__main__":
    main()
