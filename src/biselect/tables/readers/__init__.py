"""Files to tables: one file a format, read as data and refused clearly when broken. Names load on first use."""

import lazy_loader

__getattr__, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)
__all__ = ["read_table"]
