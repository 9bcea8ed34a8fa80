import pytest

from biselect.errors import InputError
from biselect_quantum.devices.layout import Layout


def test_a_variable_is_read_from_the_bit_of_its_own_number_unless_said():
    layout = Layout.of([7, 3, 9], [7, 9, 3])
    assert layout.read_into == (0, 1, 2) and layout.begins_on == (7, 3, 9) and layout.measured_on == (7, 9, 3)
    assert layout == Layout.of((7, 3, 9), (7, 9, 3), range(3)) != Layout.of([7, 3, 9], [7, 9, 3], [2, 1, 0])


@pytest.mark.parametrize(
    "orders", [([0, 0], [0, 1]), ([0, 1], [0]), ([0, 1], [0, 1], [1, 1]), ([0, -1], [0, 1]), ([0, 1], [0, 1], [0])]
)
def test_two_variables_never_share_a_place(orders):
    with pytest.raises(InputError, match="one place of its own for each variable"):
        Layout.of(*orders)


def test_numbers_of_a_layout_are_whole():
    with pytest.raises(TypeError):
        Layout.of([0.0, 1.0], [0, 1])
