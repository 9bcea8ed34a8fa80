import json

import numpy as np
import pandas as pd
import pytest

from biselect.errors import InputError
from biselect.report import render_monitor
from biselect.reviews import monitor_drift


def frame(shift, seed):
    values = np.random.default_rng(seed).normal(size=(300, 4))
    values[:, 3] += shift
    return pd.DataFrame(values, columns=list("abcd"))


def test_frames_are_watched_as_files_are(run, tmp_path):
    older, newer = frame(0.0, 0), frame(3.0, 1)
    for name, table in (("older", older), ("newer", newer)):
        table.to_parquet(tmp_path / f"{name}.parquet")
    outcome = run(
        "monitor", tmp_path / "newer.parquet", "--older", tmp_path / "older.parquet", "-k", 3, "-m", 2, "--json"
    )
    summary = monitor_drift(newer, older, k=3, m=2)
    told = json.loads(outcome.out)
    assert outcome.code == 1 and summary["crossed"]
    for key in set(summary) - {"reproduce", "title"}:
        assert json.loads(json.dumps(summary[key])) == told[key], key
    assert summary["reproduce"]["command"] == "biselect.monitor_drift(table, older, k=3, m=2)"
    assert "Threshold crossed" in render_monitor(summary)


def test_a_steady_reference_stays_within():
    summary = monitor_drift(frame(0.0, 0), frame(0.0, 1), k=3, m=2)
    assert not summary["crossed"] and summary["verdict"].startswith("Within the threshold")


def test_errors_name_python_parameters():
    with pytest.raises(InputError, match="either older=, or window="):
        monitor_drift(frame(0.0, 0), k=3, m=2)
    with pytest.raises(InputError, match="map='logistic': monitoring needs a map without labels"):
        monitor_drift(frame(0.0, 0), k=3, m=2, window=50, map="logistic")
