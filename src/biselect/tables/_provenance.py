"""What it takes to get an answer again: the files by their hashes, and the call in words."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biselect.options import Options, in_python, non_defaults, running_command
from biselect.tables._table import Table, paths_of

MOST_HASHED = 1 << 30  # bytes of files that are read once more to identify them; of more only their ends are
END_BYTES = 1 << 16


def provenance(
    command: str, seed: int, sources: Iterable[Any], read_as: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """What it takes to get the same answer again; `read_as` says how files were read, where that is not plain."""
    words = read_as or {}
    inputs = []
    for source in paths_of(sources):
        files = source.files
        if sum(path.stat().st_size for path in files) > MOST_HASHED:
            inputs.append({"name": source.name, "sha256": _sha256_of_ends(files), "of": "ends", "read_as": []})
            continue
        inputs += [
            {
                "name": path.name if source.is_set else source.name,
                "sha256": _sha256(path),
                "read_as": list(words.get(path.name, ())),
            }
            for path in files
        ]
    return {"command": command, "seed": seed, "inputs": inputs}


def _sha256_of_ends(files: Sequence[Path]) -> str:
    """Of names, sizes and last bytes: a Parquet file ends with what it says about all of its columns."""
    digest = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            file.seek(max(0, size - END_BYTES))
            digest.update(file.read())
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def call_in_words(function: str, tables: Mapping[str, Any], **arguments: Any) -> str:
    """How to get the answer again: the command that is running, or the call as Python.

    What is left at its default is left out, and tables that are no files go by the name of their parameter.

    Args:
        function: its name at the top of the package.
        tables: given by position, by the names of their parameters; None for one that was not given.
        arguments: given by name, in their order.
    """
    if (command := running_command()) is not None:
        return command
    words = [_table_in_words(name, value) for name, value in tables.items() if value is not None]
    for name, value in arguments.items():
        if isinstance(value, Options):
            words += [in_python(value)] if non_defaults(value) else []
        elif value is not None:
            words.append(f"{name}={_table_in_words(name, value) if name == 'pool' else repr(value)}")
    return f"biselect.{function}({', '.join(words)})"


def _table_in_words(name: str, value: Any) -> str:
    table = Table.of(value)
    source = repr(str(table.source)) if table.is_file else name
    options = in_python(*(one for one in (table.columns, table.csv) if non_defaults(one)))
    return f"biselect.table({source}, {options})" if options else source
