"""`python -m benchmarks [names]`: run benchmarks, write their results and the page."""

import argparse

from benchmarks import exact_vs_peers, heuristics, million_rows, proofs, record
from benchmarks.needs import need

BENCHMARKS = {
    "exact-vs-peers": exact_vs_peers.run,
    "proofs": proofs.run,
    "heuristics": heuristics.run,
    "million-rows": million_rows.run,
}
PEERS = {"exact-vs-peers": ("ortools", "gurobipy"), "heuristics": ("dwave",)}


def main() -> None:
    """Parse, run, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), help=f"any of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a peer is stopped")
    options = parser.parse_args()
    need(*(peer for name in options.names for peer in PEERS.get(name, ())))
    for name in options.names:
        lines = []
        for line in BENCHMARKS[name](options.seeds, options.limit):  # saved as they come: some peers take very long
            lines.append(line)
            record.save(name, lines)
            record.write_page()


if __name__ == "__main__":
    main()
