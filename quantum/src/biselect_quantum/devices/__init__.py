"""Circuits for sparse devices, and bits that come back under the right names. The only package that imports Qiskit.

Four orders meet here. A variable is the problem's item: sample i, or N + j for feature j. Logical qubit q of a program
is variable q. `initial_layout[q]` and `final_layout[q]` are physical qubits: where it begins and is measured;
`clbits[q]` is the classical bit that it is read into. Placing decides which physical qubit an item sits on, and
renumbers no item.

Names load on first use: patches, placements and masks can be had without Qiskit.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
