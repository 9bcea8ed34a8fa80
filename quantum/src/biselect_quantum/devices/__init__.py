"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
