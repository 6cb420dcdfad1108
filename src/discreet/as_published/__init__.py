"""As published, to compare with: baselines and prices of papers, which promise nothing, and methods that learn less.

No account pays by what is here, except by a waiver of its owner; `DPEM` and `PublishedNB` alone are repaired, and
private.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
