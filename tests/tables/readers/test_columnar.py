"""Parquet files of one table may write its columns in different types: what holds both is read, or both are named."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.errors import InputError
from biselect.large import opening
from biselect.large.spool import partitions_of
from biselect.options import Columns
from biselect.pages.answer_files import selection_json
from biselect.tables.readers import read_table

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
NUMBERS = [*INTEGERS, pa.float32(), pa.float64(), pa.decimal128(12, 2)]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
TEXTS += [pa.dictionary(pa.int32(), pa.large_string()), pa.dictionary(pa.int8(), pa.string(), ordered=True)]
TIMES = [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")]
DURATIONS = [pa.duration(unit) for unit in ("s", "ms", "us", "ns")]
FAMILIES = {"number": NUMBERS, "text": TEXTS, "time": TIMES, "duration": DURATIONS}
OF_A_KIND = [pair for kinds in FAMILIES.values() for pair in ((a, b) for a in kinds for b in kinds)]


def column(kind: pa.DataType, values) -> pa.Array:
    if pa.types.is_null(kind):
        return pa.nulls(len(values))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(
            pa.array([sorted({*values}).index(value) for value in values], kind.index_type),
            pa.array(sorted({*values}), kind.value_type),
            ordered=kind.ordered,
        )
    if pa.types.is_decimal(kind):
        return pa.array(map(Decimal, values), kind)
    return pa.array(values, pa.int64()).cast(kind) if kind not in TEXTS else pa.array(values, kind)


def values_of(kind, start):
    return [f"v{value}" for value in range(start, start + 3)] if kind in TEXTS else list(range(start, start + 3))


def in_doors(folder: Path) -> list[list]:
    parts = partitions_of(folder)
    blocks = [block for part in parts.parts for _, block in part.blocks(parts.schema.names)]
    return [
        table["c"].cast(parts.schema.field("c").type).to_pylist()
        for table in (read_table(folder), pa.concat_tables(blocks))
    ]


@settings(max_examples=120)
@given(pair=st.sampled_from(OF_A_KIND), third=st.booleans(), nothing=st.sampled_from([None, 0, 1]))
def test_types_of_one_kind_widen_to_one_that_holds_all_values(tmp_path_factory, pair, third, nothing):
    folder = tmp_path_factory.mktemp("set")
    kinds = [*pair, pair[0]] if third else [*pair]
    if nothing is not None:
        kinds.insert(nothing, pa.null())
    expected = []
    for number, kind in enumerate(kinds):
        written = column(kind, values_of(pair[0], 10 * number))
        pq.write_table(pa.table({"c": written}), folder / f"{number}.parquet", store_schema=True)
        expected += written.to_pylist()
    first, *others = in_doors(folder)
    assert all(other == first for other in others)
    if pa.types.is_duration(pair[0]) or pa.types.is_timestamp(pair[0]):
        first, expected = [pd.Series(list(values)).tolist() for values in (first, expected)]
    assert [None if value is None else value for value in first] == expected


@pytest.mark.parametrize("others", [(a, b) for a in FAMILIES for b in FAMILIES if a != b])
def test_types_of_different_kinds_are_refused_by_the_names_of_both_files(tmp_path, others):
    one, two = FAMILIES[others[0]][0], FAMILIES[others[1]][0]
    for name, kind in (("a", pa.null()), ("b", one), ("c", FAMILIES[others[0]][1]), ("d", two)):
        pq.write_table(pa.table({"c": column(kind, values_of(kind, 0))}), tmp_path / f"{name}.parquet")
    one, two = (pq.read_schema(tmp_path / f"{name}.parquet").field("c").type for name in "bd")  # Parquet has no seconds
    said = f"{tmp_path}/d.parquet: column 'c' holds {two}, but {one} in {tmp_path}/b.parquet; convert either"
    for door in (read_table, partitions_of):
        with pytest.raises(InputError) as refused:
            door(tmp_path)
        assert said in str(refused.value)


def test_whole_numbers_that_no_common_type_holds_become_floats_and_never_wrap(tmp_path):
    pq.write_table(pa.table({"c": pa.array([2**64 - 1], pa.uint64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"c": pa.array([-1], pa.int8())}), tmp_path / "b.parquet")
    pq.write_table(pa.table({"c": [2**53 + 1, None]}), tmp_path / "c.parquet")
    assert in_doors(tmp_path) == [[float(2**64), -1.0, float(2**53), None]] * 2


def test_a_time_that_the_finer_unit_does_not_hold_is_refused(tmp_path):
    pq.write_table(pa.table({"c": pa.array([250_000_000_000], pa.timestamp("s"))}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"c": pa.array([1], pa.timestamp("ns"))}), tmp_path / "b.parquet")
    for door in (read_table, lambda source: list(partitions_of(source).parts[0].blocks(["c"]))):
        with pytest.raises(InputError, match="out of bounds"):
            door(tmp_path)


def test_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["c", "c"])
    for name in ("a", "b"):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    for source in (tmp_path, tmp_path / "a.parquet"):
        for door in (read_table, partitions_of):
            with pytest.raises(InputError, match="column 'c' stands more than once"):
                door(source)


@pytest.mark.parametrize("held", [True, False])
def test_the_answer_is_that_of_types_written_alike(tmp_path, monkeypatch, held):
    if not held:
        monkeypatch.setattr(opening, "POOL_CELLS", 10)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"r{i}" for i in range(80)],
            "count": rng.integers(0, 40, 80),
            "price": rng.integers(0, 400, 80) / 4,
            "land": rng.choice(["de", "fr", "it"], 80),
            "wait": pd.to_timedelta(rng.integers(0, 9000, 80), unit="ms"),
        }
    )
    frame.loc[[4, 50], ["count", "price"]] = [900, 5000.5]
    frame["count"] = frame["count"].astype("float64")
    reference = frame.drop(index=[4, 50]).sample(300, replace=True, random_state=0).drop(columns="id")
    alike, mixed = tmp_path / "alike", tmp_path / "mixed"
    for folder in (alike, mixed):
        folder.mkdir()
    for number, part in enumerate((frame[:20], frame[20:45], frame[45:70], frame[70:])):
        plain = pa.Table.from_pandas(part, preserve_index=False)
        pq.write_table(plain, alike / f"{number}.parquet")
        if number == 0:
            pl.from_pandas(part.astype({"count": "int16"})).write_parquet(mixed / "0.parquet")
        elif number == 1:
            part.astype({"price": "float32", "wait": "timedelta64[ms]"}).to_parquet(mixed / "1.parquet", index=False)
        elif number == 2:
            part.astype({"land": "category"}).to_parquet(mixed / "2.parquet", index=False)
        else:
            other = plain.select(["land", "wait", "price", "count", "id"])
            pq.write_table(other.set_column(3, "count", other["count"].cast(pa.decimal128(20, 0))), mixed / "3.parquet")
    answers = {}
    for folder in (alike, mixed):
        found = bs.review(
            bs.table(folder, id="id", columns=Columns(types={"land": "category"})), reference, k=2, m=2, progress=False
        )
        answers[folder.name] = selection_json(found.summary)
    assert answers["alike"] == answers["mixed"] and '"r4"' in answers["mixed"]
