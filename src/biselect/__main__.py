"""`biselect`, and `python -m biselect`.

Neither imports what lies in the working directory, where tables of strangers may lie: Python's `-m` puts it first on
the path, so it is taken off before anything else is imported. Only a `biselect` there would come before us.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]

from biselect._stopping import TYPE_CHECKING, run_stoppable

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the command line."""
    os.environ["PYTHONSAFEPATH"] = "1"  # for every process that this one starts, and for theirs
    os.environ.setdefault("NUMBA_CACHE_DIR", "")  # else `.numba_config.yaml` here may name a folder of pickles
    run_stoppable(_load)


def _load() -> Callable[[], None]:
    from biselect.cli import main as command

    return command


if __name__ == "__main__":
    main()
