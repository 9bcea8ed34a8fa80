"""Choose k samples and m features together, under exact budgets, and know how good the choice is.

Names load on first use, so that `import biselect` stays light; so does what loads them. They load on another thread,
which Ctrl-C does not reach: an import that is broken off can leave modules that never load again in the process.
"""

from biselect._version import __version__ as __version__


def __getattr__(name):  # type: ignore[no-untyped-def]
    from concurrent.futures import ThreadPoolExecutor

    import lazy_loader

    load, _, names = lazy_loader.attach_stub(__name__, __file__)
    if name not in names:
        return names if name == "__all__" else load(name)
    with ThreadPoolExecutor(1) as other:
        return other.submit(load, name).result()


def __dir__():  # type: ignore[no-untyped-def]
    return sorted([*__getattr__("__all__"), "__version__"])
