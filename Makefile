# `make demo` and `make test` set themselves up from a bare Python 3.11+.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

# The full Credit Card table, where it is at hand; tests that need it skip elsewhere.
ifneq ($(wildcard ../shared/data),)
export BISELECT_DATA ?= $(abspath ../shared/data)
endif

PAPER := .venv-paper
PAPER_READY := $(PAPER)/.ready

.PHONY: demo paper-env test quick crash mutants fuzz coverage test-slow test-gpu lint docs linkcheck lock bench bench-gpu clean

demo: $(READY)
	$(VENV)/bin/biselect demo --out demo-report

# Types are checked while the tests run: one does not wait for the other's core.
test: $(READY)
	$(MAKE) --no-print-directory -j 2 lint quick

quick: $(READY)
	$(VENV)/bin/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadfile

# Machine code of compiled kernels is invisible to it: such functions are left out of the count.
coverage: $(READY)
	$(VENV)/bin/python -m pytest -m "not slow" -n auto --maxprocesses 4 --dist loadfile \
		--cov=biselect --cov=biselect_quantum --cov-report=term:skip-covered

test-slow: $(READY)
	$(VENV)/bin/python -m pytest -m slow

# Kills every writer between any two of its steps, and four commands at random: about half an hour.
crash: $(READY)
	$(VENV)/bin/python scripts/crash.py

# Small changes to the code that the tests of its module must notice; writes what survived.
mutants: $(READY)
	$(VENV)/bin/python scripts/mutate.py

# On a machine with a GPU: needs its own Python with CuPy, lazy-loader, NumPy and pytest, nothing else.
test-gpu:
	PYTHONPATH=src:quantum/src $(PYTHON) -m pytest quantum/tests/gpu

bench-gpu:
	PYTHONPATH=src:quantum/src:studies/src $(PYTHON) benchmarks/bench_gpu.py benchmarks/results/gpu.json

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# The site lies in docs/_build/html and needs no server: open index.html.
docs: $(READY)
	$(VENV)/bin/sphinx-build -q -E -W --keep-going docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# Asks every address outside; not part of the tests.
linkcheck: $(READY)
	$(VENV)/bin/sphinx-build -q -b linkcheck docs docs/_build/linkcheck

$(READY): pyproject.toml quantum/pyproject.toml studies/pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "biselect needs Python 3.11 or newer; set PYTHON=")'
	@echo "setting up $(VENV): about two minutes, once"
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r constraints.txt
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . -e quantum -e studies
	$(VENV)/bin/python -m pip check --quiet --disable-pip-version-check
	touch $(READY)

# Versions and hashes anew, from what is installed: after a change of dependencies, once the tests pass with it.
lock:
	$(VENV)/bin/python scripts/lock.py

# Damaged files for every reader, random circuits for every simulator; `make fuzz COUNT=1000 SEED=2` for less, or for others.
COUNT ?= 100000
SEED ?= 1
fuzz: $(READY)
	$(VENV)/bin/python scripts/fuzz.py --count $(COUNT) --seed $(SEED)

# Peers have an environment of their own; results go to benchmarks/results/ and docs/reference/benchmarks-solvers.md.
BENCH := .venv-bench
BENCH_READY := $(BENCH)/.ready
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 RAYON_NUM_THREADS=1

# Every row of the README's table, one after the other: keep the machine quiet for about an hour.
bench: $(READY) $(BENCH_READY)
	$(BENCH)/bin/python -m pytest tests/solvers/test_other_formats.py
	$(BENCH)/bin/python -m benchmarks
	$(ONE_THREAD) $(BENCH)/bin/python benchmarks/bench_sector.py --large benchmarks/results/sector.json
	$(ONE_THREAD) $(BENCH)/bin/python benchmarks/bench_wide.py
	$(BENCH)/bin/python benchmarks/bench_calibration.py
	$(ONE_THREAD) $(BENCH)/bin/python benchmarks/bench_training.py --out benchmarks/results/training.json
	$(ONE_THREAD) $(BENCH)/bin/python benchmarks/bench_compile.py
	$(ONE_THREAD) $(VENV)/bin/python benchmarks/bench_noise.py
	$(ONE_THREAD) $(VENV)/bin/python benchmarks/bench_noise.py --start random

$(BENCH_READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(BENCH)
	grep -o '^[^ ]*==[^ ]*' constraints.txt > $(BENCH)/versions.txt
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -c $(BENCH)/versions.txt -e . -e quantum -e studies \
		pytest hypothesis dimod dwave-samplers ortools gurobipy qiskit-optimization \
		ffsim pennylane pennylane-lightning pytket-qiskit qiskit-aer quimb
	touch $(BENCH_READY)

# The paper's Qiskit beside today's: `biselect reproduce` then compiles with both, and shows a column for each.
paper-env: $(PAPER_READY)

$(PAPER_READY): studies/paper-versions.txt
	$(PYTHON) -m venv $(PAPER)
	$(PAPER)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r studies/paper-versions.txt
	$(PAPER)/bin/python -m pip check --disable-pip-version-check
	touch $(PAPER_READY)

clean:
	rm -rf $(VENV) $(BENCH) $(PAPER) demo-report docs/_build
