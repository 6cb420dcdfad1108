"""Tables in, tables out: synthetic records, anonymised and perturbed ones, and rules that are hidden."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
