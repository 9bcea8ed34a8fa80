"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Everything is in the order of the problem's variables: sample i, or N + j for feature j. Placing decides which qubit an
item sits on, and renumbers no item; a `Layout` says where each variable is found.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
