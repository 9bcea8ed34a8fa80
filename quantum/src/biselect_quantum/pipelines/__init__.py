"""The whole way from a table or a problem to decoded shots beside their nulls, in resumable stages, and one page."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
