"""One module per table or figure of the paper, and a runner that resumes. `reproduce(name, folder)` does it all.

Names load on first use, so that the help of `biselect` stays light.
"""

import lazy_loader

from biselect_studies._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
