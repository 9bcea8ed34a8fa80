import numpy as np
import pytest


@pytest.fixture
def looks_ahead():
    """Which features of the first rows change when only later rows do: they look ahead."""

    def find(features, table, altered, rows):
        before, after = features(table), features(altered)
        return [
            name
            for name, column in before.items()
            if not np.array_equal(column[:rows], after[name][:rows], equal_nan=np.issubdtype(column.dtype, np.floating))
        ]

    return find
