"""Files to tables, by the ending of their names: read as data, and refused clearly when they are broken."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from biselect.data.readers.columnar import read_arrow, read_parquet
from biselect.data.readers.delimited import ENDINGS as CSV_ENDINGS
from biselect.data.readers.delimited import PLAIN, CsvForm, read_delimited
from biselect.data.readers.json_lines import read_json_lines
from biselect.errors import InputError

__all__ = ["CsvForm", "read_table"]

_READERS: list[tuple[tuple[str, ...], Callable[[Path, CsvForm], pa.Table]]] = [
    (CSV_ENDINGS, read_delimited),
    ((".parquet",), lambda path, form: read_parquet(path)),
    ((".arrow", ".feather", ".ipc"), lambda path, form: read_arrow(path)),
    ((".jsonl", ".ndjson"), lambda path, form: read_json_lines(path)),
]


def read_table(path: str | Path, form: CsvForm = PLAIN) -> pa.Table:
    """Read a table by the ending of its name."""
    path = Path(path)
    name = path.name.lower()
    reader = next((read for endings, read in _READERS if name.endswith(endings)), None)
    if reader is None:
        known = ", ".join(ending for endings, _ in _READERS for ending in endings)
        raise InputError(f"{path}: unknown kind of file; the name must end in one of {known}")
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a file")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")
    try:
        table = reader(path, form)
        names = table.column_names
    except InputError:
        raise
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8, separated by commas") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as {path.suffix.lstrip('.')}: {error}") from error
    if repeated := {column for column in names if names.count(column) > 1}:
        raise InputError(f"{path}: column {min(repeated)!r} stands more than once; rename one of them")
    if table.num_rows == 0:
        raise InputError(f"{path}: the table has columns but no rows")
    return table
