"""Choose k samples and m features together, under exact budgets, and know how good the choice is.

Names load on first use, so that `import biselect` stays light; so does what loads them.
"""

from biselect._stopping import Uninterrupted
from biselect._version import __version__ as __version__


def __getattr__(name):  # type: ignore[no-untyped-def]
    with Uninterrupted():
        import lazy_loader

        load, _, names = lazy_loader.attach_stub(__name__, __file__)
        return names if name == "__all__" else load(name)


def __dir__():  # type: ignore[no-untyped-def]
    return sorted([*__getattr__("__all__"), "__version__"])
