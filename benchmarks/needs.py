"""Peers that a benchmark measures us against: named before the work begins where one is missing."""

import sys
from importlib.util import find_spec


def need(*modules: str) -> None:
    """End with what is missing and how to get it, unless all of these can be imported."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        sys.exit(
            f"This measures us against {', '.join(missing)}, which is not installed here. Peers live in an environment "
            "of their own: `make .venv-bench/.ready` builds it, then use .venv-bench/bin/python instead."
        )
