"""Pictures recognised by a model that has learnt from obfuscated ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.images.obfuscations import read_pictures
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "RecognisedPictures"


@dataclass(frozen=True)
class RecognisedPictures:
    """Who is in obfuscated pictures, by a classifier that was trained on pictures obfuscated in the same way.

    Parameters
    ----------
    pictures : array of shape (n, rows, columns)
        Clear pictures of the same people, or of the same kinds.
    labels : array
        Who is in each.
    obfuscation : function
        What was done to the target, from pictures to pictures.
    truth : array
        Who is in each picture of the target, to count what is right.
    learner : scikit-learn classifier, optional
        Public. What is trained; by default a support vector machine.

    Notes
    -----
    McPherson, Shokri and Shmatikov 2016; not checked against the paper. What a person cannot recognise a model can,
    once it has seen how the obfuscation changes pictures. The details say what the same classifier attains that was
    trained on clear pictures.

    Examples
    --------
    >>> from discreet.attacks.images.obfuscations import pixelated
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 2
    >>> pictures = rng.normal(0, 0.3, (60, 4, 4)) + np.eye(2)[labels].repeat(2, axis=1)[:, None, :]
    >>> def obfuscation(given):
    ...     return pixelated(given, 2)
    >>> attack = RecognisedPictures(pictures[:40], labels[:40], obfuscation, labels[40:])
    >>> attack.run(obfuscation(pictures[40:])).success > 0.8
    True
    """

    pictures: ArrayLike = field(repr=False)
    labels: ArrayLike = field(repr=False)
    obfuscation: Callable[[Array], ArrayLike] = field(repr=False)
    truth: ArrayLike = field(repr=False)
    learner: Any = field(default=None, repr=False)
    paper: ClassVar[str] = "McPherson, Shokri and Shmatikov, Defeating image obfuscation with deep learning, 2016"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "the obfuscated pictures", "other pictures of the same people, and how pictures are obfuscated"
    )

    def __post_init__(self) -> None:
        known, labels = read_pictures(ASKED, self.pictures), np.asarray(self.labels)
        if labels.shape != (len(known),) or len(np.unique(labels)) < 2:
            obstacle = f"{len(known)} pictures have labels of shape {labels.shape}"
            raise ParameterError(ASKED, obstacle, "Give one label for each picture, of at least two kinds.")

    def run(self, target: Any) -> AttackResult:
        """Recognise obfuscated pictures."""
        start, labels, truth = time.perf_counter(), np.asarray(self.labels), np.asarray(self.truth)
        clear, hidden = read_pictures(ASKED, self.pictures), read_pictures(ASKED, target)
        known = read_pictures(ASKED, self.obfuscation(clear))
        if truth.shape != (len(hidden),) or known.shape[1:] != hidden.shape[1:] or len(known) != len(clear):
            obstacle = f"the target has shape {hidden.shape}, known pictures {known.shape}, truth {truth.shape}"
            raise ParameterError(ASKED, obstacle, "Give pictures of one size, and who is in each of the target.")
        found = self._recognised(known, labels, hidden)
        naive = self._recognised(clear, labels, hidden) if clear.shape[1:] == hidden.shape[1:] else None
        right, counts = found == truth, np.unique(truth, return_counts=True)[1]
        plain = {} if naive is None else {"trained on clear pictures": float((naive == truth).mean())}
        return AttackResult(
            ASKED,
            self.threat,
            "pictures recognised",
            int(right.sum()),
            len(truth),
            float(counts.max() / len(truth)),
            time.perf_counter() - start,
            0,
            details=plain,
        )

    def _recognised(self, pictures: Array, labels: Any, hidden: Array) -> Any:
        from sklearn.base import clone
        from sklearn.svm import SVC

        learner = SVC(C=10.0) if self.learner is None else clone(self.learner)
        return learner.fit(pictures.reshape(len(pictures), -1), labels).predict(hidden.reshape(len(hidden), -1))
