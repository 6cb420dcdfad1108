"""What a fitted smooth ANOVA model shows: scores, what adds up to them, and drawings with error bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import encoded
from discreet.questions.tables.domain import Codes
from discreet.releases.drawing import drawn_on
from discreet.schema.schema import Category, Schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND = 1.96  # standard deviations to either side that are drawn


class AnovaShapes(PrivateEstimator):
    """Functions of features and of pairs.

    Attributes
    ----------
    intercept_ : array of shape (n_scores,)
        Released. What all records have.
    shapes_ : array of shape (n_scores, n_features, cells)
        Released. What each cell of each feature adds to the scores; on average over the records, nothing.
    shape_errors_ : array of shape (n_scores, n_features, cells)
        Released. The posterior standard deviation of each.
    pair_coef_ : array of shape (n_scores, n_pairs, k, k)
        Released. What products of the first k functions of both features of a pair are multiplied by.
    pair_covariance_ : array of shape (n_pairs, k * k, k * k)
        Released. The posterior covariance of these.
    functions_ : array of shape (n_features, k, cells)
        Released. The first k functions of each feature, of mean 0 and orthogonal over the records.
    cell_shares_ : array of shape (n_features, cells)
        Released. About which part of the records is in each cell.
    edges_ : array of shape (n_features, cells + 1)
        Released. The edges of the cells; the places of the values of a category.
    columns_ : tuple of Number or Category
        Public. The bounds or the values of each feature.
    pairs_ : array of shape (n_pairs, 2)
        Public. The places of both features of each pair.
    n_iter_ : int
        Released. The number of rounds that functions were found in; 0 where noise hides them.
    """

    supervised: ClassVar[bool] = True
    categories: ClassVar[bool] = True
    intercept_: Array
    shapes_: Array
    shape_errors_: Array
    pair_coef_: Array
    pair_covariance_: Array
    functions_: Array
    cell_shares_: Array
    edges_: Array
    columns_: tuple[Any, ...]
    pairs_: NDArray[np.intp]
    n_iter_: int

    def explain(self, X: Any) -> Array:
        """What each feature adds to the scores of each row, and then each pair: with `intercept_` they add up to them.

        Returns
        -------
        array of shape (n, n_features + n_pairs, n_scores)
            A missing value adds nothing, nor do its pairs. `term_names` says what is what.
        """
        cells = self._cells(X)
        shapes = np.pad(self.shapes_, ((0, 0), (0, 0), (0, 1)))
        functions = np.pad(self.functions_, ((0, 0), (0, 0), (0, 1)))
        singles = [shapes[:, place, own].T for place, own in enumerate(cells)]
        halves = [functions[place][:, own] for place, own in enumerate(cells)]
        both = [
            np.einsum("sab,an,bn->ns", self.pair_coef_[:, place], halves[i], halves[j])
            for place, (i, j) in enumerate(self.pairs_)
        ]
        return np.stack([*singles, *both], axis=1)

    def scores(self, X: Any) -> Array:
        """The scores of each row, of shape (n, n_scores); a missing value adds nothing."""
        return np.asarray(self.explain(X).sum(axis=1) + self.intercept_)

    @property
    def term_names(self) -> list[str]:
        """The features, and then both features of each pair."""
        names = self._names
        return [*names, *(f"{names[i]} and {names[j]}" for i, j in self.pairs_)]

    def plot(
        self, ax: Axes | None = None, feature: int | None = None, pair: tuple[int, int] | None = None, score: int = 0
    ) -> Axes:
        """Draw what a feature or a pair adds to a score, or how much each does: its deviation over the records.

        A function is drawn with its pointwise 95 % band, of the posterior for the noise and for the records. Where the
        band of a pair's surface holds 0, it is drawn in white.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        feature : int, optional
            The place of a feature.
        pair : (int, int), optional
            The places of two features; neither for all features and pairs.
        score : int
            Which score.
        """
        axes = drawn_on("an ANOVA model", ax)
        if pair is not None:
            return self._drawn_pair(axes, tuple(sorted(pair)), score)
        if feature is None:
            spreads = self.deviations(score)
            axes.barh(np.arange(len(spreads)), spreads)
            axes.set_yticks(np.arange(len(spreads)), self.term_names)
            axes.invert_yaxis()
            axes.set_xlabel("deviation of what it adds")
            return axes
        return self._drawn_shape(axes, feature, score)

    def deviations(self, score: int = 0) -> Array:
        """The deviation over the records of what each feature and each pair adds, were features independent."""
        shares = self.cell_shares_
        singles = np.sqrt((np.square(self.shapes_[score]) * shares).sum(axis=1))
        squares = np.einsum("dkc,dc->dk", np.square(self.functions_), shares)
        both = [
            np.sqrt(squares[i] @ np.square(own) @ squares[j])
            for (i, j), own in zip(self.pairs_, self.pair_coef_[score], strict=True)
        ]
        return np.array([*singles, *both])

    def _drawn_shape(self, axes: Axes, feature: int, score: int) -> Axes:
        shape, error, edges = (one[feature] for one in (self.shapes_[score], self.shape_errors_[score], self.edges_))
        column = self.columns_[feature]
        if isinstance(column, Category):
            places = np.arange(len(column.values))
            axes.bar(places, shape[places], yerr=BAND * error[places])
            axes.set_xticks(places, [str(value) for value in column.values])
        else:
            there = np.diff(edges) > 0
            low, high = edges[:-1][there], edges[1:][there]
            middles, shape, error = (low + high) / 2, shape[there], error[there]
            axes.fill_between(middles, shape - BAND * error, shape + BAND * error, alpha=0.3)
            axes.plot(middles, shape)
        axes.set_xlabel(self._names[feature])
        axes.set_ylabel("added to the score")
        return axes

    def _drawn_pair(self, axes: Axes, pair: tuple[int, ...], score: int) -> Axes:
        there = np.flatnonzero((self.pairs_ == pair).all(axis=1))
        if not len(there):
            raise ParameterError(
                "draw a pair", f"there is no function of {pair}", "See pairs_.", "The model is as it was."
            )
        i, j = pair
        (place,), k = there, self.functions_.shape[1]
        cells = [np.flatnonzero(np.diff(self.edges_[one]) > 0) for one in pair]
        first, second = (self.functions_[one][:, own] for one, own in zip(pair, cells, strict=True))
        surface = first.T @ self.pair_coef_[score, place] @ second
        products = np.einsum("ac,bd->abcd", first, second).reshape(k * k, -1)
        variances = np.einsum("ac,ab,bc->c", products, self.pair_covariance_[place], products).reshape(surface.shape)
        clear = np.ma.masked_where(np.abs(surface) <= BAND * np.sqrt(variances), surface)
        ends = [
            np.append(self.edges_[one][own], self.edges_[one][own[-1] + 1])
            for one, own in zip(pair, cells, strict=True)
        ]
        most = max(float(np.abs(surface).max()), 1e-12)
        drawn = axes.pcolormesh(ends[0], ends[1], clear.T, cmap="RdBu_r", vmin=-most, vmax=most)
        if axes.figure is not None:
            axes.figure.colorbar(drawn, ax=axes, label="added to the score")
        axes.set_xlabel(self._names[i])
        axes.set_ylabel(self._names[j])
        return axes

    @property
    def _names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])]

    def _cells(self, X: Any) -> Codes:
        """The cell of each value, a row for each feature; one beyond the last where it is missing."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        rows = encoded(values, Schema({f"x{i}": column for i, column in enumerate(self.columns_)}))
        beyond = self.edges_.shape[1] - 1
        found = [
            np.searchsorted(edges[1:-1], own, side="right") for own, edges in zip(rows.T, self.edges_, strict=True)
        ]
        return np.where(np.isnan(rows.T), beyond, np.array(found).reshape(rows.T.shape))
