"""Every error the package raises on purpose: what was wrong, where, and what to do."""


class BiselectError(Exception):
    """Base of all errors raised by biselect."""


class InputError(BiselectError, ValueError):
    """The caller's data or options are unusable as given; the message says which and what is allowed."""


class InfeasibleError(BiselectError):
    """The input is well formed, but no selection satisfies it."""


class MissingDependencyError(BiselectError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


class AlteredWarning(UserWarning):
    """A file of unfinished work is not as it was written, so the work is done again."""


class MissingDataError(BiselectError):
    """A table that the package may not carry is not at hand; the message says where it goes."""
