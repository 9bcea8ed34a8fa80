"""Frames of Dask and Ray give their rows in order, here and on a worker."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from biselect.errors import InputError
from biselect.partitions.any_source import partitions_of

FRAME = pd.DataFrame({"x": np.arange(50.0), "text": ["a", None] * 25, "when": pd.date_range("2024-01-01", periods=50)})


def rows_in(part, columns):
    return pa.concat_tables([block for _, block in part.blocks(columns)])


def rows_of(partitions):
    return pa.concat_tables([rows_in(part, partitions.schema.names) for part in partitions.parts]).to_pylist()


@pytest.fixture(scope="module")
def dask():
    pytest.importorskip("dask.dataframe", reason="needs the cluster extra")
    return pytest.importorskip("dask", reason="needs the cluster extra")


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed", reason="needs the cluster extra")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="needs the cluster extra")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_a_dask_frame_gives_the_rows_of_its_partitions(dask):
    lazy = dask.dataframe.from_pandas(FRAME, npartitions=4)
    found = partitions_of(lazy[lazy.x != 3])
    assert len(found.parts) == 4 and found.rows == 49
    assert rows_of(found) == pa.Table.from_pandas(FRAME[FRAME.x != 3], preserve_index=False).to_pylist()
    assert [part.first for part in found.parts] == [0, 12, 25, 37]


def test_columns_of_no_clear_type_get_that_of_the_partition_that_shows_it(dask):
    with dask.config.set({"dataframe.convert-string": False}):
        late = pd.DataFrame({"x": range(4), "o": pd.Series([None, None, "a", "b"], dtype=object)})
        found = partitions_of(dask.dataframe.from_pandas(late, npartitions=2))
        assert [row["o"] for row in rows_of(found)] == [None, None, "a", "b"]
        mixed = pd.DataFrame({"o": pd.Series([1, 2, "a", "b"], dtype=object)})
        with pytest.raises(
            InputError, match=r"partition 1 of the Dask frame: column 'o' holds .*string.*, but int64 in"
        ):
            partitions_of(dask.dataframe.from_pandas(mixed, npartitions=2))


def test_a_partition_that_changes_when_it_is_computed_again_is_named(dask):
    times = []

    def growing(frame):
        times.append(1)
        return pd.concat([frame] * len(times))

    found = partitions_of(dask.dataframe.from_pandas(FRAME, npartitions=1).map_partitions(growing, meta=FRAME))
    with pytest.raises(
        InputError, match=r"partition 0 of the Dask frame: had .* rows, but .* when it was computed again"
    ):
        rows_of(found)


def test_an_error_in_a_partition_names_it(dask):
    def broken(frame):
        raise OSError("the disk is gone")

    lazy = dask.dataframe.from_pandas(FRAME, npartitions=2)
    found = partitions_of(lazy)
    with pytest.raises(InputError, match="the Dask frame: cannot be read as a Dask frame: the disk is gone"):
        partitions_of(lazy.map_partitions(broken, meta=FRAME))
    assert found.rows == 50


@pytest.mark.parametrize("persisted", [False, True])
def test_a_dask_part_is_read_on_a_worker(dask, dask_client, persisted):
    lazy = dask.dataframe.from_pandas(FRAME, npartitions=4)
    found = partitions_of(lazy.persist() if persisted else lazy)
    tasks = [dask_client.submit(rows_in, part, ["x"], pure=False) for part in found.parts]
    assert pa.concat_tables(dask_client.gather(tasks))["x"].to_pylist() == FRAME.x.tolist()
    assert rows_of(found) == pa.Table.from_pandas(FRAME, preserve_index=False).to_pylist()


def test_a_ray_dataset_gives_its_blocks_in_order_here_and_on_a_worker(ray):
    dataset = ray.data.from_pandas(FRAME).repartition(5).map_batches(lambda batch: batch, batch_format="pandas")
    found = partitions_of(dataset)
    assert rows_of(found) == pa.Table.from_pandas(FRAME, preserve_index=False).to_pylist()
    there = ray.remote(rows_in)
    tables = ray.get([there.remote(part, ["x"]) for part in found.parts])
    assert pa.concat_tables(tables)["x"].to_pylist() == FRAME.x.tolist()
