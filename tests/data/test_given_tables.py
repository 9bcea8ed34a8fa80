"""What is given as a table becomes one, or is refused."""

import numpy as np
import pandas as pd
import pytest

from biselect.data.given_tables import as_table
from biselect.errors import InputError


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (np.arange(3.0), "has the shape"),
        ([["a"]], "cannot be read"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "cannot be read"),
    ],
)
def test_what_is_no_table_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        as_table(source)
