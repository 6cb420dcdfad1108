"""The ledger that is paid first: accounts, the filters in force, the chain of entries and where it is stored."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
