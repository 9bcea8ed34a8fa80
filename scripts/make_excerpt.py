"""Cut the excerpt of the Credit Card table that ships with the package (needs the full table, see BISELECT_DATA).

Reference: every 13th row of the first 60 % of the rows, in time order. Pool: rows of the last 20 %, of which 15 are
frauds (labels are used here only, to make sure that the demo has something to find). Values are stored as float32.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

TARGET = Path(__file__).parents[1] / "src" / "biselect" / "data" / "excerpt"
REFERENCE_STEP = 13
POOL_ROWS, POOL_FRAUDS = 600, 15
SEED = 20


def main() -> None:
    """Write reference.parquet and pool.parquet."""
    table = pq.read_table(Path(os.environ["BISELECT_DATA"]) / "creditcard.parquet")
    table = table.append_column("row", pa.array(np.arange(len(table)), pa.int32()))
    late = np.arange(int(0.8 * len(table)), len(table))
    labels = table["Class"].to_numpy()
    rng = np.random.default_rng(SEED)
    frauds = rng.choice(late[labels[late] == 1], size=POOL_FRAUDS, replace=False)
    others = rng.choice(late[labels[late] == 0], size=POOL_ROWS - POOL_FRAUDS, replace=False)
    write(table.take(np.arange(0, int(0.6 * len(table)), REFERENCE_STEP)).drop_columns(["Class"]), "reference")
    write(table.take(np.sort(np.concatenate([frauds, others]))), "pool")


def write(table: pa.Table, name: str) -> None:
    """One Parquet file, compact: float32, transaction id first."""
    ids = pc.binary_join_element_wise("t", pc.utf8_lpad(table["row"].cast(pa.string()), 6, "0"), "")
    columns = {"transaction": ids}
    for column in table.column_names:
        if column != "row":
            kind = pa.int8() if column == "Class" else pa.float32()
            columns[column] = table[column].cast(kind, safe=False)
    if name == "reference":
        del columns["transaction"]
    plain = [column for column in columns if column not in ("transaction", "Class")]
    pq.write_table(
        pa.table(columns),
        TARGET / f"{name}.parquet",
        compression="zstd",
        compression_level=19,
        use_dictionary=["Class"] if "Class" in columns else False,
        use_byte_stream_split=plain,
    )
    print(name, len(table), "rows", (TARGET / f"{name}.parquet").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
