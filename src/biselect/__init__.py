"""Choose k samples and m features together, under exact budgets, and know how good the choice is.

Names load on first use, so that `import biselect` stays light.
"""

import lazy_loader

from biselect._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
