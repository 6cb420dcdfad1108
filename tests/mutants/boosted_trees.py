"""Mistakes in boosted trees with random splits: in what a record adds, and in what is made of noise."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "questions/trees/leaf_gradients",
        ("times = 2.0 + trees", "times = 1.0 + trees"),
        ("np.maximum(lengths(away, norm), longest)", "longest"),
        ("places = starts + leaves_of", "places = 1 + leaves_of"),
        ("level + scores", "scores"),
        ("added[there, :, 0], sizes[there, 0] = pull.T, squares(pull)", "added[there, :, 0] = pull.T"),
        ("fitting = heights.shape == shape and ", "fitting = "),
        ("and np.abs(heights).max() <= STEEPEST", ""),
        tests="questions/trees/test_leaf_gradients.py",
    ),
    *of(
        "learners/trees/boosted_trees",
        ("loose = float(np.clip(STILL / moved, 1.0, LOOSEST))", "loose = LOOSEST"),
        ("if moved > HIDDEN:", "if moved > 1e9:"),
        ("for _ in range(rounds):", "for _ in range(1):"),
        ("scale * pull.residual * found[:-1]", "scale * found[:-1]"),
        (
            "groups = (np.arange(len(products)) + leaves - 1) // leaves",
            "groups = np.minimum(np.arange(len(products)), 1)",
        ),
        ("most=MOST_LEAVES", ""),
        ("copula = copula.correlated(", "copula.correlated("),
        tests="learners/trees/test_boosted_trees_classifier.py learners/trees/test_boosted_trees_regressor.py",
    ),
    *of(
        "learners/trees/boosted_trees_regressor",
        ("float(np.clip(size * begun.size / own, max(size / FASTEST, SMALLEST), size))", "size"),
        ("max(size / FASTEST, SMALLEST)", "size / FASTEST"),
        ("(known.quantile(0.5),), known.spread(0.5)", "(number.lower,), number.upper - number.lower"),
        tests="learners/trees/test_boosted_trees_regressor.py",
    ),
    *of(
        "learners/trees/boosted_trees_classifier",
        ("center=tuple(ShrunkResiduals(begun.size).start(shares).tolist())", "center=begun.center"),
        ("ShrunkResiduals(self.residual_).odds(softmax(every, axis=1))", "softmax(every, axis=1)"),
        tests="learners/trees/test_boosted_trees_classifier.py",
    ),
    *of(
        "learners/trees/column_copula",
        ("max(1 - noise / max(float(np.square(found).sum()), 1e-300), 0.0)", "0.0"),
        ("Trees(drawn.features, self.edges[places, ends] - BEFORE * width)", "drawn"),
        tests="learners/trees/test_boosted_trees_regressor.py",
    ),
]
