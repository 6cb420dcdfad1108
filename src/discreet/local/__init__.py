"""Privacy with no one to trust: people randomise their own values, and a collector sees only the reports."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
