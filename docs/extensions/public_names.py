"""The directive `public-names MODULE`: every public name of a module, from its docstring.

A name that several packages offer is described once, in the one nearest to the top, and linked from the others.
"""

import inspect
import re
from importlib import import_module
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import stringify_annotation

MODULES = (  # in the order of their pages; the first that offers a name describes it
    "biselect",
    "biselect.core",
    "biselect.errors",
    "biselect.options",
    "biselect.reviews",
    "biselect.sessions",
    "biselect.weights",
    "biselect.estimators",
    "biselect.solvers",
    "biselect.solvers.other_formats",
    "biselect.tables",
    "biselect.tables.readers",
    "biselect.tables.problem_files",
    "biselect.plot",
    "biselect.extensions",
    "biselect.columns",
    "biselect.testing",
    "biselect.pages",
    "biselect_quantum",
    "biselect_quantum.options",
    "biselect_quantum.circuits",
    "biselect_quantum.circuits.training",
    "biselect_quantum.circuits.starts",
    "biselect_quantum.circuits.angle_selection",
    "biselect_quantum.circuits.metrics",
    "biselect_quantum.uniform",
    "biselect_quantum.shots",
    "biselect_quantum.simulate.program",
    "biselect_quantum.simulate.wide",
    "biselect_quantum.devices",
    "biselect_quantum.devices.execution",
    "biselect_quantum.devices.noise",
    "biselect_quantum.plot",
    "biselect_studies",
    "biselect_studies.recovery",
    "biselect_studies.extensions.drift",
    "biselect_studies.quantum.mean_field",
    "biselect_studies.quantum.penalty_x",
    "biselect_studies.data.candidates",
    "biselect_studies.data.synthetic",
    "biselect_studies.data.aml_schema",
    "biselect_studies.data.aml_features",
    "biselect_studies.data.aml_generator",
)


NDARRAY = re.compile(r"~numpy\.ndarray\[tuple\[~typing\.Any, \.\.\.\], ~numpy\.dtype\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\]")


def public_names(module: ModuleType) -> list[str]:
    """What `__all__` lists, modules aside, else the functions and classes that the module itself defines."""
    if listed := getattr(module, "__all__", None):
        return [name for name in listed if not name.startswith("_") and not inspect.ismodule(getattr(module, name))]
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]


def homes() -> dict[int, str]:
    """Where each thing is described, by its identity."""
    found: dict[int, str] = {}
    for place in MODULES:
        module = import_module(place)
        for name in public_names(module):
            found.setdefault(id(getattr(module, name)), f"{place}.{name}")
    return found


def describe(full_name: str, thing: Any) -> list[str]:
    """The directive for a thing; constants are shown by their names or their value."""
    if inspect.isclass(thing):
        routing = [name for name in dir(thing) if name.startswith("set_") and name.endswith("_request")]
        excluded = [f"   :exclude-members: {', '.join(routing)}"] if routing else []  # scikit-learn writes these
        return [f".. autoclass:: {full_name}", "   :members:", *excluded, ""]
    if callable(thing):
        return [f".. autofunction:: {full_name}", ""]
    shown = ", ".join(map(str, thing)) if isinstance(thing, dict | tuple) else repr(thing)
    module, _, name = full_name.rpartition(".")
    return [f".. py:data:: {name}", f"   :module: {module}", "", f"   ``{shown}``", ""]


def shorten(signature: str | None) -> str | None:
    """Array types by the names that they are written with, instead of what these stand for."""
    if signature is None:
        return None
    written_out = stringify_annotation(ArrayLike, "smart")
    return NDARRAY.sub(r"~numpy.typing.NDArray[\1]", signature.replace(written_out, "~numpy.typing.ArrayLike"))


class PublicNames(SphinxDirective):
    """`{public-names} biselect.core`, and in its body further things that these give back, by full name."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Describe what belongs here, then link what is described elsewhere."""
        place = self.arguments[0]
        if place not in MODULES:
            raise self.error(f"{place}: add it to MODULES, which says where names are described")
        module, known = import_module(place), homes()
        lines, elsewhere = [f".. module:: {place}", ""], []
        for name in sorted(public_names(module), key=str.lower):
            thing = getattr(module, name)
            home = known[id(thing)]
            setattr(module, name, thing)  # names that load on first use are looked for in the module's dictionary
            if home == f"{place}.{name}":
                lines += describe(home, thing)
            else:
                elsewhere.append(f":py:obj:`{home}`")
        for full_name in self.content:
            where, _, name = full_name.rpartition(".")
            lines += describe(full_name, getattr(import_module(where), name))
        if elsewhere:
            lines += ["Also here: " + ", ".join(elsewhere) + ".", ""]
        text = ["````{eval-rst}", *lines, "````"]
        box = nodes.container()
        self.state.nested_parse(StringList(text, source=place), self.content_offset, box)
        return box.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-signature", lambda *event: (shorten(event[-2]), shorten(event[-1])))
    return {"parallel_read_safe": True}
