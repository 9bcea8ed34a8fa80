from hypothesis import given

from biselect.testing import all_selections
from biselect.testing.strategies import ruled_problems


@given(ruled_problems())
def test_drawn_rules_always_leave_a_choice(problem):
    assert next(iter(all_selections(problem)), None) is not None
