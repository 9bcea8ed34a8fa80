"""Commands of packages that are not installed: what they would do, and how to get them."""

from biselect.errors import MissingDependencyError


def reproduce() -> None:
    """Reproduce the paper's tables and figures; comes with the package biselect-studies."""
    raise MissingDependencyError(
        "the paper's tables and figures are in a package of their own: pip install biselect-studies, "
        "or pip install ./studies in a copy of the repository"
    )
