"""Graphs as private data: queries about edges, degrees and triangles, cuts, and what can be made of the answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
