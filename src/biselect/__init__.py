"""Choose k samples and m features together, under exact budgets, and know how good the choice is.

Names load on first use, so that `import biselect` stays light; so does what loads them.
"""

from biselect._version import __version__ as __version__


def __getattr__(name):  # type: ignore[no-untyped-def]
    import lazy_loader

    ours = globals()
    ours["__getattr__"], ours["__dir__"], ours["__all__"] = lazy_loader.attach_stub(__name__, __file__)
    return ours["__all__"] if name == "__all__" else ours["__getattr__"](name)


def __dir__():  # type: ignore[no-untyped-def]
    return sorted([*__getattr__("__all__"), "__version__"])
