"""Where tables come from: files, frames, arrays and the excerpt of the package. Names load on first use."""

import lazy_loader

__getattr__, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["Table", "inspect", "table"]
