"""Recorded errors of a device, simulated. A noise model is not hardware, and everything here says so.

Names load on first use: trajectories of errors can be run as state vectors without Qiskit.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
