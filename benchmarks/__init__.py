"""One file per claim; `python -m benchmarks` runs them, writes results/*.json and the page in docs/."""
