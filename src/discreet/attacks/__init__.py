"""What an adversary does with a model, a table, or answers: linkage, inference, reconstruction."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
