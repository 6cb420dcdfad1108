"""Keys and templates for tests: each key takes a tenth of a second, and is drawn once."""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import MatchParameters, MatchScheme, Vectors
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.matching_key import MatchingKey


def key_of(dimensions: int, scheme: MatchScheme = "ckks", which: int = 0) -> MatchingKey:
    return _drawn(dimensions, scheme, which)


@cache
def _drawn(dimensions: int, scheme: MatchScheme, which: int) -> MatchingKey:
    return MatchingKey.drawn(MatchParameters(dimensions, scheme))


def made_templates(count: int, dimensions: int, seed: int = 0) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, dimensions))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def matcher_of(path: object, templates: Vectors, key: MatchingKey) -> Matcher:
    gallery = Gallery.created(str(path), key.parameters, key.keys.digest).enrolled(templates, key)
    return Matcher(gallery, key.keys)
