"""No warnings while a function reads records: a warning could depend on a single record."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

_LOCK = threading.Lock()
_listening: list[object] = []  # who asked for silence; warnings have one set of filters for all threads
_filters = warnings.catch_warnings()


@contextmanager
def quiet() -> Iterator[None]:
    """No warning is shown, or turned into an error, in any thread, until all who asked for silence are done.

    Examples
    --------
    >>> with quiet():
    ...     bool(np.isnan(np.nanmean([np.nan])))
    True
    """
    global _filters
    me = object()
    with _LOCK:
        if not _listening:
            _filters = warnings.catch_warnings()
            _filters.__enter__()
            warnings.simplefilter("ignore")
        _listening.append(me)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        with _LOCK:
            _listening.remove(me)
            if not _listening:
                _filters.__exit__(None, None, None)
