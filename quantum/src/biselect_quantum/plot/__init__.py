"""Pictures of circuits: axes in, axes out. With this package they are `biselect.plot`'s too, by entry point."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
