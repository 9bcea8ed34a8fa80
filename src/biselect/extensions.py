"""What other packages add to biselect, found by name and loaded on first use.

A package offers maps, solvers, commands or pictures by entry points of the groups `biselect.maps`, `biselect.solvers`,
`biselect.commands` and `biselect.pictures`:

    [project.entry-points."biselect.solvers"]
    kawasaki = "biselect_studies.extensions.kawasaki:kawasaki"

A script or notebook registers the object itself, with `register` of the registry in question.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from biselect.errors import InputError, MissingDependencyError

__all__ = ["Registry"]

Thing = TypeVar("Thing")
FOLDERS = {"biselect-quantum": "./quantum", "biselect-studies": "./studies ./quantum"}
ELSEWHERE = {  # what our own packages bring, so that an error can say which one to install
    "biselect.commands": {
        "biselect-quantum": "compile quantum run train",
        "biselect-studies": "certify reproduce",
    },
    "biselect.maps": {
        "biselect-studies": "abs-z conformal density gaussian gaussian-robust laplace logistic pareto student-t",
    },
    "biselect.pictures": {"biselect-quantum": "depths energies landscape schedule", "biselect-studies": "couplings"},
    "biselect.solvers": {
        "biselect-quantum": "qaoa",
        "biselect-studies": "feature-first kawasaki random swap-sa tabu",
    },
}


class Registry(Generic[Thing]):
    """Things of one sort by name: built in, registered by hand, or brought by installed packages.

    Args:
        group: entry-point group of the packages that add to it.
        noun: what an error calls one of them, such as "solver".
        own: those that biselect brings, each the thing itself or "module:attribute", loaded on first use.
    """

    def __init__(self, group: str, noun: str, own: Mapping[str, "Thing | str"]) -> None:
        self.group, self.noun, self._things = group, noun, dict(own)

    @cached_property
    def _brought(self) -> dict[str, list[EntryPoint]]:
        """Entry points of installed packages by name, in the order of their names."""
        points: dict[str, list[EntryPoint]] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: point.name):
            points.setdefault(point.name, []).append(point)
        return points

    def names(self) -> list[str]:
        """All names: our own and those registered by hand first, then those of other packages."""
        return [*self._things, *(name for name in self._brought if name not in self._things)]

    def register(self, name: str, thing: Thing) -> None:
        """Make a thing known under a name.

        Raises:
            InputError: the name is taken.
        """
        if name in self.names():
            raise InputError(f"a {self.noun} named {name!r} is registered already")
        self._things[name] = thing

    def load(self, name: str) -> Thing:
        """The thing of this name, loaded on first use.

        Raises:
            InputError: nothing has that name, or two packages claim it.
            MissingDependencyError: it comes with a package of ours that is not installed.
        """
        points = self._brought.get(name, [])
        if len(points) + (name in self._things and bool(points)) > 1:
            packages = ", ".join(sorted({point.dist.name for point in points if point.dist}))
            raise InputError(f"the {self.noun} {name!r} stands twice, brought by {packages}: uninstall one of them")
        if name not in self._things and not points:
            self.refuse(name)
        thing = self._things.get(name, points[0].value if points else "")
        if isinstance(thing, str):
            module, _, attribute = thing.partition(":")
            with ThreadPoolExecutor(1) as other:  # which Ctrl-C does not reach
                thing = self._loaded(name, getattr(other.submit(import_module, module).result(), attribute))
        return thing

    def _loaded(self, name: str, thing: Thing) -> Thing:
        if name in self._things:
            self._things[name] = thing
        return thing

    def refuse(self, name: str) -> None:
        """Say which names there are, or which package of ours brings this one."""
        for package, names in ELSEWHERE.get(self.group, {}).items():
            if name in names.split():
                raise MissingDependencyError(
                    f"the {self.noun} {name!r} comes with {package}: pip install {FOLDERS[package]} in a clone of the "
                    "repository"
                )
        raise InputError(f"there is no {self.noun} {name!r}; choose one of: {', '.join(self.names())}")


def optional(module: str, needed_by: str, extra: str) -> Any:
    """A module that an extra of biselect brings, loaded on first use.

    Raises:
        MissingDependencyError: it is not installed; the message says what needs it, and how to get it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{needed_by} needs {error.name}: pip install '.[{extra}]' in a clone of the repository"
        ) from error
