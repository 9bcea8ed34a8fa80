from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

pl = pytest.importorskip("polars")

from biselect.errors import InputError, MissingDataError  # noqa: E402
from biselect_studies.data.aml_generator import (  # noqa: E402
    CONTACTS,
    FORMATS,
    PATTERNS,
    Market,
)
from biselect_studies.data.aml_schema import (  # noqa: E402
    COLUMNS,
    coded,
    find_transactions,
    is_published,
    laundering_groups,
    load_transactions,
)

HEADER = (
    "Timestamp,From Bank,Account,To Bank,Account,Amount Received,Receiving Currency,Amount Paid,"
    "Payment Currency,Payment Format,Is Laundering"
)
ROWS = (
    "2022/09/01 00:20,010,8000EBD30,010,8000EBD30,3697.34,US Dollar,3697.34,US Dollar,Reinvestment,0",
    "2022/09/01 00:05,03208,8000F4580,001,8000F5340,0.01,Euro,0.02,US Dollar,Cheque,1",
    "2022/09/01 00:20,011,8000EBD30,010,8000EBD30,5.0,Euro,5.0,Euro,ACH,0",
)


def written(tmp_path, *rows, header=HEADER):
    path = tmp_path / "HI-Small_Trans.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_the_published_csv_is_read_sorted_by_time_and_accounts_belong_to_their_bank(tmp_path):
    found = load_transactions(written(tmp_path, *ROWS))
    frame = found.frame
    assert frame["minute"].to_list() == [0, 15, 15] and frame["label"].to_list() == [True, False, False]
    assert frame["currency_change"].to_list() == [True, False, False]
    assert frame["sender"][1] == frame["receiver"][1] == frame["receiver"][2] != frame["sender"][2]
    assert not found.generated and found.source == "HI-Small_Trans.csv" and len(found) == 3


def test_parquet_with_the_second_account_named_as_by_pandas(tmp_path):
    table = pl.read_csv(written(tmp_path, *ROWS), infer_schema=False).rename({"Account_duplicated_0": "Account.1"})
    table.write_parquet(tmp_path / "x.parquet")
    assert load_transactions(tmp_path / "x.parquet").frame["paid"].to_list() == [0.02, 3697.34, 5.0]


def seen(path):
    """What was read, but for the codes of names, which differ from run to run."""
    return load_transactions(path).frame.drop("sender", "receiver", "format", "currency")


@pytest.mark.parametrize(
    "written_as",
    [
        "2022/09/01 00:{}:00",
        "2022-09-01T00:{}",
        "2022-09-01T00:{}:00",
        "2022-09-01 00:{}:00.5",
        "2022-09-01T00:{}:00Z",
        " 2022-09-01 00:{}",
    ],
)
def test_times_with_seconds_and_iso_times_are_read(tmp_path, written_as):
    rows = [written_as.format(row[14:16]) + row[16:] for row in ROWS]
    assert seen(written(tmp_path, *rows)).equals(seen(written(tmp_path, *ROWS)))
    mixed = load_transactions(written(tmp_path, rows[0], *ROWS[1:])).frame
    assert mixed["minute"].to_list() == [0, 15, 15]


def test_days_alone_begin_at_midnight(tmp_path):
    rows = [f"2022-09-0{day}{row[16:]}" for day, row in zip((3, 1, 2), ROWS, strict=True)]
    found = load_transactions(written(tmp_path, *rows)).frame
    assert found["minute"].to_list() == [0, 1440, 2880] and found["clock"].to_list() == [0, 0, 0]
    table = pl.read_csv(written(tmp_path, *rows), infer_schema=False).rename({"Account_duplicated_0": "Account.1"})
    table.with_columns(pl.col("Timestamp").str.to_date()).write_parquet(tmp_path / "x.parquet")
    assert load_transactions(tmp_path / "x.parquet").frame["minute"].to_list() == [0, 1440, 2880]


def test_blank_lines_and_labels_in_words_are_read(tmp_path):
    words = [row[:-1] + {"0": "False", "1": "true"}[row[-1]] for row in ROWS]
    found = seen(written(tmp_path, words[0], "", *words[1:], "  ", ""))
    assert found.equals(seen(written(tmp_path, *ROWS)))
    table = pl.read_csv(written(tmp_path, *ROWS), infer_schema=False).rename({"Account_duplicated_0": "Account.1"})
    table.with_columns(pl.col("Is Laundering") == "1").write_parquet(tmp_path / "x.parquet")
    assert load_transactions(tmp_path / "x.parquet").frame["label"].to_list() == [True, False, False]


@pytest.mark.parametrize("label", [0.9, 1.9, float("nan")])
def test_labels_that_are_no_labels_are_not_rounded_to_some(tmp_path, label):
    table = pl.read_csv(written(tmp_path, *ROWS), infer_schema=False).rename({"Account_duplicated_0": "Account.1"})
    table.with_columns(pl.Series("Is Laundering", [0.0, 1.0, label])).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="'Is Laundering' must hold 0 and 1 only"):
        load_transactions(tmp_path / "x.parquet")


def market():
    return Market(transactions=1_000, days=2).table(seed=0)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("Timestamp", pl.Int64, "'Timestamp' holds values of type Int64; give times such as 2022/09/01 00:20"),
        ("Payment Currency", pl.Int32, "'Payment Currency' holds values of type Int32; give names"),
        ("Payment Format", pl.Float64, "'Payment Format' holds values of type Float64; give names"),
        ("Account", pl.List(pl.Int64), "'Account' holds values of type List"),
        ("Amount Paid", pl.Date, "'Amount Paid' holds values of type Date; give numbers"),
    ],
)
def test_columns_of_another_kind_are_refused_by_name_and_kind(tmp_path, name, kind, message):
    market().with_columns(pl.lit(None).cast(kind).alias(name)).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=message):
        load_transactions(tmp_path / "x.parquet")


@pytest.mark.parametrize("rest", ["", "\n", "\n\n"])
def test_a_header_without_transactions_is_said_to_be_one(tmp_path, rest):
    (tmp_path / "x.csv").write_text(HEADER + rest)
    with pytest.raises(InputError, match="holds no transactions"):
        load_transactions(tmp_path / "x.csv")


def test_whether_a_file_is_published_cannot_be_asked_of_one_without_labels(tmp_path):
    market().drop("Is Laundering").write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="has no column 'Is Laundering'; it has 'Timestamp'"):
        is_published(tmp_path / "x.parquet", "HI-Small")
    (tmp_path / "y.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be read as transactions"):
        is_published(tmp_path / "y.parquet", "HI-Small")


def test_the_order_of_generated_rows_does_not_tell_which_are_laundering():
    table = Market(transactions=200_000, days=4).table(seed=0)
    minute, label = table["Timestamp"].to_numpy(), table["Is Laundering"].to_numpy()
    last = np.append(minute[1:] != minute[:-1], True)
    among = np.bincount(np.cumsum(np.append(True, last[:-1])) - 1)  # transactions of each minute
    expected = label.sum() / among.mean()
    assert abs(int(label[last].sum()) - expected) < 5 * np.sqrt(expected)


def test_laundering_payments_are_grouped_by_the_accounts_they_connect():
    """Against a search that can be read: from a payment to all that share an account with its group, until none."""
    found = Market(transactions=60_000, days=4).generate(seed=1)
    groups, frame = laundering_groups(found), found.frame.filter(pl.col("label"))
    assert np.array_equal(groups >= 0, found.frame["label"].to_numpy())
    ends = [{a, b} for a, b in zip(frame["sender"], frame["receiver"], strict=True)]
    mine = groups[groups >= 0]
    assert 1 < np.unique(mine).size < len(ends)
    for first in np.unique(mine, return_index=True)[1]:
        known, members = set(ends[first]), {int(first)}
        while more := {row for row, pair in enumerate(ends) if pair & known} - members:
            members |= more
            known = known.union(*(ends[row] for row in more))
        assert members == set(np.flatnonzero(mine == mine[first]).tolist())
    backwards = found.frame.with_columns(-pl.col("sender", "receiver"))  # codes of accounts differ from run to run
    assert np.array_equal(laundering_groups(replace(found, frame=backwards)), groups)
    assert np.array_equal(np.unique(mine), [np.flatnonzero(groups == group)[0] for group in np.unique(mine)])


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (ROWS, HEADER.replace("Payment Format", "Kind"), "has no column 'Payment Format'; it has 'Timestamp'"),
        (
            (ROWS[0].replace("3697.34,US Dollar,R", "-3697.34,US Dollar,R"),),
            HEADER,
            "'Amount Paid' is negative in row 0",
        ),
        (
            (ROWS[0], ROWS[1].replace("2022/09/01 00:05", "yesterday")),
            HEADER,
            "'Timestamp' cannot be read in 1 rows .the first holds 'yesterday'.; give times such as 2022/09/01 00:20",
        ),
        (
            (ROWS[0].replace("3697.34,US Dollar,3", "much,US Dollar,3"),),
            HEADER,
            "'Amount Received' cannot be read in 1 rows .the first holds 'much'.; give numbers such as",
        ),
        ((ROWS[0][:-1] + "2",), HEADER, "'Is Laundering' must hold 0 and 1 only, or True and False"),
        ((ROWS[0][:-1] + "yes",), HEADER, "the first holds 'yes'.; give 0 and 1, or True and False"),
        ((ROWS[0].replace("Reinvestment", ""),), HEADER, "'Payment Format' cannot be read in 1 rows .it is missing"),
        ((ROWS[0].replace("3697.34,US Dollar,3", "NaN,US Dollar,3"),), HEADER, "'Amount Received' is nan in row 0"),
        ((ROWS[0].replace("3697.34,US Dollar,R", "inf,US Dollar,R"),), HEADER, "'Amount Paid' is inf in row 0"),
        ((), HEADER, "holds no transactions"),
    ],
)
def test_files_that_are_not_as_published_are_refused(tmp_path, rows, header, message):
    with pytest.raises(InputError, match=message):
        load_transactions(written(tmp_path, *rows, header=header))


def test_missing_files_say_where_they_go(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file"):
        load_transactions(tmp_path / "none.csv")
    monkeypatch.setenv("BISELECT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"LI-Large_Trans\.csv is not at hand"):
        find_transactions("LI-Large")
    with pytest.raises(InputError, match="no variant 'HI-Tiny'"):
        find_transactions("HI-Tiny")
    path = written(tmp_path, *ROWS)
    assert find_transactions("HI-Small") == path


def test_the_generator_has_the_published_schema_rate_and_rhythm_and_says_what_it_is(tmp_path):
    market = Market(transactions=50_000, days=14)
    table = market.table(seed=0)
    assert tuple(table.columns) == COLUMNS and table.height == 50_000
    assert table["Is Laundering"].sum() == round(50_000 / 981)
    assert table["Timestamp"].is_sorted() and table["Timestamp"][0] >= datetime(2022, 9, 1)
    hours = table["Timestamp"].dt.hour().to_numpy()
    assert np.isin(hours, range(9, 17)).mean() > 2 * np.isin(hours, [22, 23, 0, 1, 2, 3, 4, 5]).mean()
    assert set(table["Payment Format"].unique()) == set(FORMATS)
    table.write_csv(tmp_path / "g.csv", datetime_format="%Y/%m/%d %H:%M")
    again = load_transactions(tmp_path / "g.csv").frame
    made = market.generate(seed=0)
    assert made.generated and "generated" in made.source
    for name in ("minute", "paid", "label", "bank_change"):
        assert again[name].equals(made.frame[name])
    assert coded(market.table(seed=0).lazy(), source="", generated=True).frame["paid"].equals(made.frame["paid"])
    assert not market.table(seed=1)["Amount Paid"].equals(table["Amount Paid"])


def test_generated_laundering_keeps_the_rhythm_and_bitcoin_its_currency():
    table = Market(transactions=60_000, laundering=0.3).table(seed=0)
    night = table["Timestamp"].dt.hour().is_in([0, 1, 2, 3]).to_numpy()
    bad = table["Is Laundering"].to_numpy() == 1
    assert night[bad].mean() == pytest.approx(night[~bad].mean(), rel=0.25)
    by_format = table["Payment Format"] == "Bitcoin"
    for name in ("Payment Currency", "Receiving Currency"):
        assert by_format.equals(table[name] == "Bitcoin", check_names=False)
    busiest = table.filter(pl.col("Account") == table["Account"].mode()[0], pl.col("Account") != pl.col("Account.1"))
    counts = busiest["Account.1"].value_counts()["count"]
    assert (counts > 0.05 * busiest.height).sum() == CONTACTS


def test_strangers_are_generated_as_they_ever_were():
    """Figures in the docs were made on these rows."""
    table = Market(transactions=2_000, strangers=True).table(seed=0)
    bad = table.filter(pl.col("Is Laundering") == 1)
    assert bad["Account"].to_list() == ["800000081"] * 2
    assert bad["Amount Paid"].to_list() == [934.56755, 1027.327792]
    assert table["Amount Paid"].sum() == pytest.approx(27_218_662.337122)


def test_launderers_take_part_in_one_pattern_and_mostly_pay_those_they_pay_anyway():
    found = Market(transactions=60_000, laundering=0.01).generate(seed=0).frame
    pairs = found.select("sender", "receiver", "label")
    usual = set(pairs.filter(~pl.col("label")).select("sender", "receiver").iter_rows())
    bad = list(pairs.filter(pl.col("label")).select("sender", "receiver").iter_rows())
    assert np.mean([pair in usual for pair in bad]) > 0.4
    assert all(sender != receiver for sender, receiver in bad)


def test_impossible_markets_are_refused():
    with pytest.raises(InputError, match="at least 1000"):
        Market(transactions=10)
    with pytest.raises(InputError, match=r"share from 0 to 0\.5"):
        Market(transactions=2000, laundering=0.9)
    assert Market(transactions=2000, laundering=0).table(seed=0)["Is Laundering"].sum() == 0


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_have_the_shape_of_their_name(name):
    edges = np.array(PATTERNS[name](5, np.random.default_rng(0)))
    senders, receivers, steps = edges.T
    assert (senders != receivers).all() and (steps >= 0).all()
    out, into = np.bincount(senders), np.bincount(receivers)
    shape = {
        "fan-out": lambda: out.size == 1 and out[0] == 5,
        "fan-in": lambda: into.size == 1 and into[0] == 5,
        "gather-scatter": lambda: out[0] == into[0] == 5 and steps[receivers == 0].max() < steps[senders == 0].min(),
        "scatter-gather": lambda: out[0] == 5 and into.max() == 5 and into[0] == 0,
        "cycle": lambda: (out == 1).all() and (into == 1).all(),
        "stack": lambda: len(edges) == 10 and into[5:10].sum() == out[5:10].sum() == 5,
        "bipartite": lambda: (out == 2).all() and receivers.min() >= 5,
        "random": lambda: (receivers[:-1] == senders[1:]).all(),
    }
    assert shape[name]()
