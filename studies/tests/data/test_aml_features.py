from dataclasses import replace
from math import exp, log, log1p

import numpy as np
import pytest
from scipy.stats import rankdata

pl = pytest.importorskip("polars")

from biselect_studies.data.aml_features import DAY, HOUR, KINDS, MEANINGS, NEVER, WEEK, causal_features  # noqa: E402
from biselect_studies.data.aml_generator import Market  # noqa: E402
from biselect_studies.data.aml_schema import Transactions  # noqa: E402


def small(rows=300, seed=0, accounts=12, minutes=12 * DAY):
    """Few accounts over many minutes: repeats, ties in time, self transfers and empty pasts all occur."""
    rng = np.random.default_rng(seed)
    minute = np.sort(rng.integers(0, minutes, rows) // 7 * 7)
    sender, receiver = rng.integers(0, accounts, (2, rows))
    frame = pl.DataFrame(
        {
            "minute": minute.astype(np.int64),
            "clock": (minute % 1440).astype(np.int32),
            "weekday": (minute // 1440 % 7 + 1).astype(np.int8),
            "sender": sender.astype(np.int64),
            "receiver": receiver.astype(np.int64),
            "paid": np.exp(rng.normal(3, 2, rows)),
            "currency_change": rng.random(rows) < 0.2,
            "bank_change": rng.random(rows) < 0.5,
            "format": rng.integers(0, 4, rows).astype(np.uint32),
            "currency": rng.integers(0, 3, rows).astype(np.uint32),
            "label": rng.random(rows) < 0.05,
        }
    )
    return Transactions(frame=frame, source="test", generated=True)


def slow_features(transactions):
    """Straight from the list of meanings: for every transaction look at all those of earlier minutes."""
    rows = transactions.frame.to_dicts()
    found = []
    for row in rows:
        row["log"] = round(log(max(row["paid"], 0.01)) * 1e6)
    for i, row in enumerate(rows):
        same = [r["log"] for r in rows[:i] if r["currency"] == row["currency"] and r["minute"] < row["minute"]]
        row["size"] = float(np.clip((row["log"] - np.mean(same)) / 1e6, -8, 8)) if same else 0.0
        row["units"] = round(exp(row["size"]) * 1000)
        row["new"] = all((r["sender"], r["receiver"]) != (row["sender"], row["receiver"]) for r in rows[:i])
    for row in rows:
        t, s, r = row["minute"], row["sender"], row["receiver"]
        past = [other for other in rows if other["minute"] < t]

        def of(role, who, window=None, past=past, t=t):
            return [o for o in past if o[role] == who and (window is None or o["minute"] >= t - window)]

        def amount(events):
            return log1p(sum(o["units"] for o in events) / 1000)

        def since(events, t=t):
            return log1p(min(t - events[-1]["minute"], NEVER) if events else NEVER)

        out, into, got = of("sender", s), of("receiver", r), of("receiver", s)
        pair = [o for o in out if o["receiver"] == r]
        back = [o for o in past if o["sender"] == r and o["receiver"] == s]
        paid = sum(o["units"] for o in of("sender", s, DAY))
        received = sum(o["units"] for o in of("receiver", s, DAY))
        mean = sum(o["units"] for o in out) / 1000 / len(out) if out else 1.0
        values = {
            "amount": row["size"],
            "currency_change": row["currency_change"],
            "bank_change": row["bank_change"],
            "self_transfer": s == r,
            "hour": row["clock"] / 60,
            "weekend": row["weekday"] >= 6,
            "format_rarity": -log((sum(o["format"] == row["format"] for o in past) + 1) / (len(past) + KINDS)),
            "currency_rarity": -log((sum(o["currency"] == row["currency"] for o in past) + 1) / (len(past) + KINDS)),
            "out_count_1h": len(of("sender", s, HOUR)),
            "out_count_1d": len(of("sender", s, DAY)),
            "out_count_7d": len(of("sender", s, WEEK)),
            "out_amount_1d": amount(of("sender", s, DAY)),
            "out_amount_7d": amount(of("sender", s, WEEK)),
            "fan_out_7d": sum(o["new"] for o in of("sender", s, WEEK)),
            "fan_out": len({o["receiver"] for o in out}),
            "since_out": since(out),
            "amount_change": row["size"] - log(max(mean, 0.001)) if out else 0.0,
            "out_burst": len(of("sender", s, HOUR)) / max(1, len(of("sender", s, WEEK))),
            "format_switch": bool(out) and out[-1]["format"] != row["format"],
            "currency_switch": bool(out) and out[-1]["currency"] != row["currency"],
            "sender_in_count_1d": len(of("receiver", s, DAY)),
            "sender_in_amount_1d": amount(of("receiver", s, DAY)),
            "sender_since_in": since(got),
            "pass_through": log1p((paid + row["units"]) / 1000) - log1p(received / 1000),
            "amount_match": min(8.0, abs(row["size"] - got[-1]["size"])) if got else 8.0,
            "in_count_1h": len(of("receiver", r, HOUR)),
            "in_count_1d": len(of("receiver", r, DAY)),
            "in_count_7d": len(of("receiver", r, WEEK)),
            "in_amount_1d": amount(of("receiver", r, DAY)),
            "in_amount_7d": amount(of("receiver", r, WEEK)),
            "fan_in_7d": sum(o["new"] for o in of("receiver", r, WEEK)),
            "fan_in": len({o["sender"] for o in into}),
            "since_in": since(into),
            "in_burst": len(of("receiver", r, HOUR)) / max(1, len(of("receiver", r, WEEK))),
            "receiver_out_count_1d": len(of("sender", r, DAY)),
            "pair_count": len(pair),
            "since_pair": since(pair),
            "reverse_count": len(back),
        }
        found.append([float(values[name]) for name in MEANINGS])
    return np.array(found)


@pytest.mark.parametrize(("seed", "accounts"), [(0, 12), (1, 3), (2, 80)])
def test_features_are_what_their_meanings_say(seed, accounts):
    table = small(seed=seed, accounts=accounts)
    fast, slow = causal_features(table), slow_features(table)
    assert fast.columns == list(MEANINGS) and len(MEANINGS) == 38
    for j, name in enumerate(MEANINGS):
        np.testing.assert_allclose(fast[name].to_numpy(), slow[:, j], rtol=2e-5, atol=2e-5, err_msg=name)


def columns(transactions):
    return {name: column.to_numpy() for name, column in causal_features(transactions).to_dict().items()}


def altered(table, rows):
    """Other accounts, amounts, currencies and formats in all later minutes; new kinds of both among them."""
    late = pl.int_range(pl.len()) >= rows
    frame = table.frame.with_columns(
        pl.when(late).then(pl.col("paid") * 1000).otherwise("paid"),
        *(pl.when(late).then(pl.col(n) + 90).otherwise(n).alias(n) for n in ("sender", "receiver")),
        *(pl.when(late).then(pl.col(n) + 9).otherwise(n).alias(n) for n in ("format", "currency")),
    )
    return Transactions(frame=frame, source="altered", generated=True)


def test_no_feature_looks_ahead_and_planted_leaks_are_found(looks_ahead):
    table, rows = small(rows=400), 200
    future = altered(table, rows)
    assert looks_ahead(columns, table, future, rows) == []

    def leaky(transactions):
        totals = transactions.frame.select(pl.len().over("sender"), pl.col("paid").shift(-1))
        return {**columns(transactions), "payments_ever": totals["len"].to_numpy(), "next": totals["paid"].to_numpy()}

    assert looks_ahead(leaky, table, future, rows) == ["payments_ever", "next"]


def test_what_else_happens_in_the_same_minute_is_not_the_past():
    table = small(rows=400, minutes=600)
    minute = table.frame["minute"].to_numpy()
    turned = np.lexsort((-np.arange(400), minute))
    other = Transactions(frame=table.frame[turned], source="turned", generated=True)
    before, after = causal_features(table).to_numpy(), causal_features(other).to_numpy()
    # the last event of an earlier minute depends on the order inside it; nothing else does
    ordered = [name in ("format_switch", "currency_switch", "amount_match") for name in MEANINGS]
    np.testing.assert_array_equal(before[turned][:, ~np.array(ordered)], after[:, ~np.array(ordered)])


def test_labels_play_no_part():
    table = small()
    flipped = Transactions(frame=table.frame.with_columns(~pl.col("label")), source="flipped", generated=True)
    assert causal_features(table).equals(causal_features(flipped))


def test_amounts_of_mixed_currencies_are_measured_each_by_its_own_past():
    """The documented choice: a currency's unit does not matter, only how large an amount is for that currency."""
    table = small(rows=400)
    rich = table.frame.with_columns(pl.when(pl.col("currency") == 1).then(pl.col("paid") * 100).otherwise("paid"))
    found = causal_features(Transactions(frame=rich, source="rich", generated=True))
    np.testing.assert_allclose(found.to_numpy(), causal_features(table).to_numpy(), atol=0.02)


def aucs(market, seed):
    """How well each feature alone tells laundering, whichever way round."""
    table = market.generate(seed=seed)
    features, labels = causal_features(table), table.frame["label"].to_numpy()
    assert np.isfinite(features.to_numpy()).all() and features.dtypes == [pl.Float32] * 38
    ranks = rankdata(features.to_numpy(), axis=0)[labels].mean(axis=0) - (labels.sum() + 1) / 2
    areas = ranks / (~labels).sum()
    return dict(zip(MEANINGS, np.maximum(areas, 1 - areas), strict=True))


def test_no_single_feature_gives_generated_laundering_away():
    """Strangers were given away by the pairs they make."""
    market = Market(transactions=20_000, laundering=0.01)
    for seed in (0, 1, 2):
        found = aucs(market, seed)
        assert max(found.values()) < 0.75, max(found, key=found.get)
    assert aucs(replace(market, strangers=True), 0)["since_pair"] > 0.75


def test_only_the_features_of_the_last_payment_depend_on_the_order_within_a_minute():
    one = small(rows=400, minutes=2 * DAY, accounts=5)
    numbered = one.frame.with_row_index("row")
    turned = numbered.sort("minute", "row", descending=[False, True])
    other = causal_features(Transactions(frame=turned.drop("row"), source="test", generated=True))
    back = other[turned["row"].arg_sort()]
    found = causal_features(one)
    differ = {name for name in MEANINGS if not np.array_equal(found[name].to_numpy(), back[name].to_numpy())}
    assert differ == {"format_switch", "currency_switch", "amount_match"}
