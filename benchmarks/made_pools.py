"""Pools of made records on which attacks on membership are tried: nothing in them comes from a record of anybody.

They look like what such attacks meet: small pictures, mixtures, tables of numbers and categories, lists of purchases.
The number of records, of classes and of wrong labels differs, and all is drawn anew for each seed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.special import expit
from sklearn.datasets import make_classification, make_moons

from discreet.core.grid import Array

Labels = NDArray[np.int64]
Pool = tuple[Array, Labels]
SIDE = 8  # pixels of a small picture


def pool(kind: str, seed: int) -> Pool:
    """One pool of a kind: features from 0 to 1 or of about unit size, and labels."""
    rng = np.random.default_rng((sorted(KINDS).index(kind), seed))
    return KINDS[kind](rng)


def _size(rng: np.random.Generator) -> int:
    return int(rng.integers(1200, 2000))


def _strokes(rng: np.random.Generator, number: int, classes: int, shake: float) -> Pool:
    """Signs of two to four bent strokes, each drawn by a hand that shakes, in 8 x 8 grey pixels."""
    signs = [rng.uniform(0.5, 6.5, (int(rng.integers(2, 5)), 3, 2)) for _ in range(classes)]
    y = rng.integers(0, classes, number)
    steps = np.linspace(0, 1, 12)[:, None]
    bends = np.concatenate([(1 - steps) ** 2, 2 * steps * (1 - steps), steps**2], axis=1)
    grid = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), axis=-1).reshape(-1, 1, 2)
    rows = []
    for label in y:
        points = signs[label] + rng.normal(0, shake, signs[label].shape) + rng.normal(0, shake, 2)
        path = (bends @ points).reshape(-1, 2)
        apart = ((grid - path) ** 2).sum(axis=2).min(axis=1)
        rows.append(np.exp(-apart / rng.uniform(0.4, 1.0)))
    return np.array(rows), y


def _signs(rng: np.random.Generator) -> Pool:
    return _strokes(rng, _size(rng), 10, 0.5)


def _shaky_signs(rng: np.random.Generator) -> Pool:
    return _strokes(rng, _size(rng), int(rng.integers(5, 16)), 0.9)


def _shades(rng: np.random.Generator) -> Pool:
    """Smooth pictures: one for each class, moved, dimmed, and mixed with one that is another's alone."""
    number, classes = _size(rng), 10
    y = rng.integers(0, classes, number)
    shapes = np.stack([gaussian_filter(rng.normal(size=(16, 16)), 2) for _ in range(classes)])
    own = np.stack([gaussian_filter(rng.normal(size=(SIDE, SIDE)), 1) for _ in range(number)])
    corners = zip(y, *rng.integers(3, 6, (2, number)), strict=True)
    moved = np.stack([shapes[label][i : i + SIDE, j : j + SIDE] for label, i, j in corners])
    pictures = moved / shapes.std() + own / own.std() * rng.uniform(0.5, 1.2)
    return expit(pictures.reshape(number, -1)), y


def _blobs(rng: np.random.Generator) -> Pool:
    """Classes of several normal clusters each, that overlap."""
    number, classes, columns = _size(rng), 8, 20
    centres = rng.normal(size=(classes, 3, columns)) * 0.9
    y = rng.integers(0, classes, number)
    return centres[y, rng.integers(0, 3, number)] + rng.normal(size=(number, columns)), y


def _wrong_blobs(rng: np.random.Generator) -> Pool:
    """The same, of which one label in twenty is wrong."""
    X, y = _blobs(rng)
    return X, np.where(rng.random(len(y)) < 0.05, rng.integers(0, 8, len(y)), y)


def _skewed(rng: np.random.Generator) -> Pool:
    """Clusters of very different size and density."""
    number, clusters = _size(rng), 30
    which = rng.choice(clusters, number, p=rng.dirichlet(np.full(clusters, 0.5)))
    spread = np.exp(rng.normal(0, 0.5, clusters))
    X = rng.normal(size=(clusters, 15))[which] * 1.2 + spread[which, None] * rng.normal(size=(number, 15))
    return X, rng.integers(0, 6, clusters)[which]


def _measured(rng: np.random.Generator) -> Pool:
    """What scikit-learn makes: informative, redundant and useless columns, and a few wrong labels."""
    X, y = make_classification(
        _size(rng),
        30,
        n_informative=10,
        n_redundant=10,
        n_classes=4,
        flip_y=0.03,
        random_state=int(rng.integers(2**31)),
    )
    return X / X.std(axis=0), y.astype(np.int64)


def _people(rng: np.random.Generator) -> Pool:
    """A table of people: numbers, some skewed, categories as marks, and a label that they decide in part."""
    number = _size(rng)
    class_of = rng.integers(0, 5, number)
    numbers = rng.normal(size=(5, 6))[class_of] * 0.6 + rng.normal(size=(number, 6))
    numbers[:, :2] = np.exp(0.6 * numbers[:, :2]) - 1
    marks = []
    for values in (3, 5, 8, 12):
        law = rng.dirichlet(np.full(values, 0.6), 5)
        marks.append(np.eye(values)[[rng.choice(values, p=law[own]) for own in class_of]])
    X = np.concatenate([numbers, *marks], axis=1)
    scores = X @ rng.normal(size=X.shape[1]) + numbers[:, 2] * numbers[:, 3]
    return X, (rng.random(number) < expit(1.5 * (scores - np.median(scores)))).astype(np.int64)


def _purchases(rng: np.random.Generator) -> Pool:
    """What was bought, of 120 things, by people of 12 styles; the style is the label."""
    number, styles = _size(rng), 12
    tastes = expit(rng.normal(-1.5, 1.5, (styles, 120)))
    y = rng.integers(0, styles, number)
    share = rng.uniform(0.35, 0.7)
    return (rng.random((number, 120)) < share * tastes[y] + (1 - share) * tastes.mean(axis=0)).astype(np.float64), y


def _bends(rng: np.random.Generator) -> Pool:
    """Two bent bands, among columns that say nothing."""
    number = _size(rng)
    X, y = make_moons(number, noise=0.25, random_state=int(rng.integers(2**31)))
    return np.concatenate([X, rng.normal(size=(number, 8))], axis=1), y.astype(np.int64)


KINDS: dict[str, Callable[[np.random.Generator], Pool]] = {
    "signs": _signs,
    "shaky signs": _shaky_signs,
    "shades": _shades,
    "blobs": _blobs,
    "wrong blobs": _wrong_blobs,
    "skewed": _skewed,
    "measured": _measured,
    "people": _people,
    "purchases": _purchases,
    "bends": _bends,
}
