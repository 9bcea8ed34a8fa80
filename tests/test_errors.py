import pytest

from biselect import errors


@pytest.mark.parametrize(
    ("kind", "also"),
    [(errors.InputError, ValueError), (errors.MissingDependencyError, ImportError)],
)
def test_an_error_of_ours_is_caught_as_python_users_expect(kind, also):
    with pytest.raises(also):
        raise kind("what was wrong")


def test_all_errors_have_one_base():
    kinds = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, Exception)]
    kinds = [kind for kind in kinds if not issubclass(kind, Warning)]
    assert all(issubclass(kind, errors.BiselectError) for kind in kinds)
