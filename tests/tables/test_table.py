"""What is given as a table becomes one, or is refused."""

import numpy as np
import pandas as pd
import pytest

from biselect.errors import InputError
from biselect.large.spool import partitions_of
from biselect.tables import Table


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.arange(3.0), "has the shape"),
        ([["a"]], "cannot be read"),
        ([["a", 1]], "cannot be read"),
    ],
)
def test_what_is_no_table_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        Table(source).read()


def test_a_dask_frame_is_refused_with_what_to_do():
    dask = pytest.importorskip("dask.dataframe", reason="needs the cluster extra")
    with pytest.raises(InputError, match="it is a Dask frame; write it to Parquet first"):
        partitions_of(dask.from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=2))
