"""Plain data to pages and files; nothing is computed here. Names load on first use."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
