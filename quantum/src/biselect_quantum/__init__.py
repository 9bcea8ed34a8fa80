"""Circuits for selection problems: simulated inside the (k, m) sector, compiled for devices, run and read back.

Names load on first use, so that `import biselect_quantum` stays light.
"""

import lazy_loader

from biselect_quantum._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
