from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InfeasibleError, InputError
from biselect.options import RowRules
from biselect.tables.row_rules import apply_rules, rules_in_words

PROBLEM = SelectionProblem(
    coupling=np.eye(4, 3), k=2, m=1, sample_names=("a", "b", "c,d", "e"), feature_names=("x", "y", "z")
)


def test_names_become_positions_once():
    problem = apply_rules(RowRules(must=["a,e", "a"], never=["c,d"], must_columns="y"), PROBLEM)
    assert problem.sample_rules.forced_in == (0, 3) and problem.sample_rules.forced_out == (2,)
    assert problem.feature_rules.forced_in == (1,)


def test_things_without_names_go_by_position():
    problem = SelectionProblem(coupling=np.eye(4, 3), k=2, m=1)
    assert apply_rules(RowRules(must=[3], must_columns=["0"]), problem).sample_rules.forced_in == (3,)


@given(labels=st.lists(st.sampled_from(["p", "q", None]), min_size=4, max_size=4), at_most=st.integers(1, 3))
def test_limits_hold_for_each_label_and_for_no_row_without_one(labels, at_most):
    problem = apply_rules(RowRules(at_most=at_most, per="site"), replace(PROBLEM, k=1), labels)
    for group in problem.sample_rules.groups:
        members = {labels[i] for i in group.members}
        assert len(members) == 1 and None not in members and len(group.members) > at_most == group.at_most


@pytest.mark.parametrize(
    ("rules", "kind", "message"),
    [
        (
            {"must": ["q"]},
            InputError,
            r"rules=RowRules\(must=\['q'\]\): there is no such row of the pool; there are a, b",
        ),
        ({"must_columns": ["q"]}, InputError, r"RowRules\(must_columns=\['q'\]\): there is no such column in use"),
        (
            {"must": ["a"], "never": ["a"]},
            InfeasibleError,
            r"RowRules\(must=...\) and rules=RowRules\(never=...\) both name 'a'",
        ),
        (
            {"must": ["a", "b"], "at_most": 1, "per": "site"},
            InfeasibleError,
            r"2 rows with site 's', but rules=RowRules\(at_most=...\) is 1",
        ),
        (
            {"per": "site"},
            InputError,
            r"at_most=...\) and rules=RowRules\(per=...\) go together: rules=RowRules\(at_most=1, per='machine'\)",
        ),
    ],
)
def test_rules_that_cannot_be_kept_are_told_by_name(rules, kind, message):
    with pytest.raises(kind, match=message):
        apply_rules(RowRules(**rules), PROBLEM, ["s"] * 4)


def test_rules_in_words_name_a_dozen_at_most():
    many = SelectionProblem(coupling=np.ones((20, 2)), k=15, m=1)
    told = rules_in_words(apply_rules(RowRules(must=list(range(14))), many))
    assert told["words"] == [
        "rows that must be chosen: " + ", ".join(map(str, range(12))) + " and 2 more",
    ]
    assert told["k"] == [14, 20] and rules_in_words(many) is None
