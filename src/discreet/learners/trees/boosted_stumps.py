"""Private boosting of stumps, with weights that no other record determines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import ScoredClassifier
from discreet.fitting.task import Task, encoded
from discreet.questions.columns.box import GUESS
from discreet.questions.gradients.shape_gradients import boosting_weights_of, cells_among, scores_among
from discreet.questions.question import BoundedSum
from discreet.questions.tables.domain import Domain
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.schema.schema import Schema
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: `boosted` in benchmarks/tuning_trees.py. Records times epsilon, over the reach of the neighbors,
# from which so many rounds and bins pay, with Gaussian noise and with Laplace noise.
SIZES = ((1e6, 256, 64), (1e5, 128, 64), (3e4, 64, 32), (8e3, 32, 16), (2.5e3, 16, 16), (0.0, 8, 8))
PURE_SIZES = ((3e6, 128, 64), (1e6, 64, 64), (2e5, 32, 32), (6e4, 16, 16), (2e4, 8, 16), (0.0, 4, 8))
DOUBT = 2.0  # deviations of noise that are taken from an edge
NORMS: tuple[Norm, Norm] = ("l1", "l2")  # without delta, and with it
SUREST = 0.8  # edge as a share of all weights, so that noise never makes a vote very large: set by hand


@dataclass(frozen=True)
class BoostingPlan:
    """The cells of all features, and the noise of each round."""

    domain: Domain
    rounds: StagedPlan

    @property
    def event(self) -> Event:
        """What all rounds cost."""
        return self.rounds.event


class BoostedStumps(ScoredClassifier):
    """Boosting for people (Dwork, Rothblum and Vadhan 2010): records are weighted anew before each stump is chosen.

    A stump says yes if a number is above a public cut, or if a category has a given value, and else no; one more always
    says yes. In each round, the weights of all records are added up in the cells of every feature, signed by class and
    with noise, and the stump with the greatest edge is added to the score. Of more than two classes, each has a score
    against the rest. A record whose class is not listed counts for nothing; a stump does not vote on a missing value.

    The weights of AdaBoost are divided by their sum over all records. So one record moves the weights of all others:
    where the others are classified right and it is not, nearly all weight is its own, and noise that hides what one of
    n equal weights adds does not hide it. Here the weight is min(1, exp(-margin)), as in MadaBoost: it is computed from
    the record and from stumps that were released before, without a sum over others, and is never more than 1.

    `AdditiveClassifier` fits all features in each round, and is more accurate; this one is for study, for a short list
    of rules, and for features that are categories.

    Parameters
    ----------
    n_estimators : int, optional
        Public. The number of rounds; where not given, as many as so many records and this epsilon pay for: from 8, or
        4 where no delta is paid, to 256.
    bins : int, optional
        Public. The number of cells of each number; where not given, from 8 to 64, as for the rounds.
    bounds : (lower, upper), or Schema, optional
        Public. Of the features: two numbers, or two sequences with one number per feature, or a schema of the features
        in order, which may have categories; not for `PrivateData`, whose schema has them.

    Attributes
    ----------
    features_ : array of shape (n_estimators, n_scores)
        Released. The feature of each stump; -1 for the one that always says yes.
    cuts_ : array of shape (n_estimators, n_scores)
        Released. For a number, the cut above which the stump says yes; for a category, the place of its value.
    estimator_weights_ : array of shape (n_estimators, n_scores)
        Released. What a yes adds to the score, and a no takes from it; 0 where noise could be all that was found.
    heights_ : array of shape (n_scores, 1 + n_cells)
        Released. All stumps together: what is added for every record, and for those in each cell of each feature.
    bins_ : int
        Public. The number of cells of each number.
    columns_ : tuple of Number or Category
        Public. What is known of each feature.

    Guarantee
    ---------
    `event_`: one release of a bounded sum in each round, composed, for the neighbors and the unit of the data set; add
    or remove one record for arrays. Released: `heights_` and the stumps, post-processing of them. With d features a
    record adds its weight, which is at most 1 (Domingo and Watanabe 2000), to d + 1 numbers of each score.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 3))
    >>> y = (np.abs(X[:, 0]) > 0.5).astype(int)
    >>> model = BoostedStumps(classes=[0, 1], bounds=(-1, 1), epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "boosted stumps"
    categories: ClassVar[bool] = True
    heights_: Array
    bins_: int

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        bins: int | None = None,
        expected_size: int = GUESS,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_estimators = n_estimators
        self.bins = bins
        self.expected_size = expected_size
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        for name, least, most in (("n_estimators", 1, 2**9), ("bins", 2, 2**8), ("expected_size", 1, None)):
            if getattr(self, name) is not None:  # with so few rounds, heights stay below STEEPEST
                check_whole(self.purpose, name, getattr(self, name), least=least, most=most)

    def plan(self, task: Task) -> BoostingPlan:
        """As many rounds, of as many cells, as are given; else as records times epsilon pay for."""
        n = task.data.public_size or self.expected_size
        weight = n * task.budget.epsilon / task.data.neighbors.reach
        sizes = SIZES if task.budget.delta > 0 else PURE_SIZES
        rounds, bins = next(size[1:] for size in sizes if weight >= size[0])
        rounds = rounds if self.n_estimators is None else int(self.n_estimators)
        domain = Domain.of(task.schema, task.features, bins if self.bins is None else int(self.bins))
        question = self._weights(task, domain, _start(task, domain))
        return BoostingPlan(domain, staged(task.data, (Stage(question, 1.0, rounds),), task.budget))

    def learn(self, task: Task, plan: BoostingPlan, permit: Permit) -> Artefact:
        """Choose the stump of the greatest edge for each score, round after round."""
        domain, (spread,), rounds = plan.domain, plan.rounds.spreads, len(plan.rounds.parts)
        heights = _start(task, domain)
        features, cuts, votes = np.zeros((3, rounds, len(heights)))
        for turn in range(rounds):
            noisy = permit.ask(self._weights(task, domain, heights.copy()), spread.noise).reshape(heights.shape)
            edges = _edges(domain, noisy[:, 1:])
            sure = np.maximum(np.abs(edges) - DOUBT * spread.stddev * _deviations(domain), 0.0)
            for own, best in enumerate(sure.argmax(axis=1)):
                share = sure[own, best] / max(noisy[own, 0], sure[own, best], 1.0)
                votes[turn, own] = np.copysign(np.arctanh(min(share, SUREST)), edges[own, best])
                features[turn, own], cuts[turn, own], said = _stump(domain, int(best))
                heights[own] += votes[turn, own] * said
        return {
            "features_": features.astype(np.intp),
            "cuts_": cuts,
            "estimator_weights_": votes,
            "heights_": heights,
            "bins_": max(0 if ends is None else len(ends) - 1 for ends in domain.edges),
        }

    def decision_function(self, X: Any) -> Array:
        """The score of each class, or the one of the second class where there are two."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        schema = Schema({f"x{i}": column for i, column in enumerate(self.columns_)})
        domain = Domain.of(schema, tuple(schema.columns), self.bins_)
        scores = scores_among(self.heights_, cells_among(domain, encoded(values, schema)))
        return np.asarray(scores[0] if len(self.classes_) == 2 else scores.T)

    def _weights(self, task: Task, domain: Domain, heights: Array) -> BoundedSum:
        norm = NORMS[self.delta > 0]
        return boosting_weights_of(task.schema, task.features, domain.bins, str(task.target), heights, norm)


def _start(task: Task, domain: Domain) -> Array:
    """No heights: of one score for two classes, or one for each class."""
    return np.zeros((1 if task.classes == 2 else task.classes, 1 + sum(domain.shape)))


def _edges(domain: Domain, signed: Array) -> Array:
    """The weight that each stump is right about less the rest: of the one that always says yes, and of each cell's."""
    blocks = np.split(signed, np.cumsum(domain.shape)[:-1], axis=1)
    found = [signed.sum(axis=1, keepdims=True) / len(blocks)]
    for block, ends in zip(blocks, domain.edges, strict=True):
        whole = block.sum(axis=1, keepdims=True)
        found.append(2 * (block if ends is None else whole - np.cumsum(block, axis=1)) - whole)
    return np.concatenate(found, axis=1)


def _deviations(domain: Domain) -> Array:
    """The deviations of the edges, if every cell has noise of deviation 1."""
    return np.sqrt([sum(domain.shape) / len(domain.shape) ** 2, *np.repeat(domain.shape, domain.shape)])


def _stump(domain: Domain, best: int) -> tuple[int, float, Array]:
    """The feature and the cut of a stump, and what it says in each cell: 1, -1, or 0 in those of other features."""
    said, starts = np.zeros(1 + sum(domain.shape)), np.cumsum((1, *domain.shape))
    if best == 0:
        return -1, 0.0, np.eye(1, len(said))[0]
    feature = int(np.searchsorted(starts, best, side="right")) - 1
    place, ends, cells = best - int(starts[feature]), domain.edges[feature], np.arange(domain.shape[feature])
    yes = cells == place if ends is None else cells > place
    said[starts[feature] : starts[feature + 1]] = np.where(yes, 1.0, -1.0)
    return feature, float(place if ends is None else ends[place + 1]), said
