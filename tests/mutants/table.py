"""One-line mistakes that tests have to notice: a file, the text, what it becomes, and the tests to ask.

A mutant whose text is not there exactly once is stale: the code has moved on, and so must the table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A mistake.

    Parameters
    ----------
    file : str
        Below `src/discreet`.
    old, new : str
        The text, and what it becomes.
    tests : tuple of str
        Below `tests`; they are run in this order until one fails.
    excuse : str
        Why nothing can notice, where nothing can.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    excuse: str = ""


AUDIT = "conformance/test_mechanisms.py::test_no_audit_refutes_the_claim_and_each_does_with_two_thirds_of_the_noise"
PARTS = "conformance/test_mechanisms.py::test_no_audit_refutes_a_part_and_each_does_with_two_thirds_of_the_noise"

REPORTS = "conformance/test_randomizers.py"
FAIR = "deep/fair/test_fair_training.py::test_an_audit_of_"


def _of(file: str, *changes: tuple[str, ...], audits: tuple[str, ...] = (), tests: str = "") -> list[Mutant]:
    """The mutants of one file: asked first is its own test, then the audits of these mechanisms."""
    room, _, name = file.rpartition("/")
    own = tests or f"{room}/test_{name}.py"
    asked = (*own.split(), *(f"{AUDIT}[{kind}]" for kind in audits))
    return [Mutant(f"{file}.py", old, new, asked, *excuse) for old, new, *excuse in changes]


MUTANTS = [
    # core
    *_of(
        "core/answer",
        ("flooring = self.slack * self.grid.step * self.size", "flooring = self.slack * self.size"),
        ("* self.size ** (1 / ORDER[norm])", "* self.size ** 0.0"),
        ("self.size, self.neighbors) + flooring", "self.size, self.neighbors) + 0 * flooring"),
        ("self.bound.nonnegative and self.neighbors is", "self.bound.nonnegative or self.neighbors is"),
        ("return self.bound.nonnegative and", "return True and"),
        ("return max(math.ldexp(product, -self.grid.exponent), LEAST_SCALE)", "return math.ldexp(product, 0)"),
        ("slack=math.ldexp(self.slack, -bits) + 1.0", "slack=math.ldexp(self.slack, -bits)"),
        ("slack=math.ldexp(self.slack, -bits) + 1.0", "slack=self.slack + 1.0"),
        ("slack = math.ldexp(self.slack, bits)", "slack = self.slack"),
        ("grid=Grid(self.grid.exponent + bits)", "grid=self.grid"),
        ("grid = Grid(self.grid.exponent - bits)", "grid = self.grid"),
        ("[1] - MOST_CELLS)", "[1] - MOST_CELLS - 8)"),
        ("self.steps, min(bits, 63))", "self.steps, min(bits, 63) - 1)"),
    ),
    *_of(
        "core/bound",
        ("reach = neighbors.reach **", "reach = 1 **"),
        ("overlap = 0.0 if size == 1 else 1 / ORDER[norm]", "overlap = 0.0"),
        ("overlap = 0.0 if size == 1 else 1 / ORDER[norm]", "overlap = 1 / ORDER[norm]"),
        ("(overlap if self.nonnegative else 1.0)", "overlap"),
        ("1 / ORDER[norm] - 1 / ORDER[self.norm]", "1 / ORDER[self.norm] - 1 / ORDER[norm]"),
        ("size ** max(0.0,", "size ** min(0.0,"),
        ("np.isfinite(rows).all(axis=-1, keepdims=True), rows, 0.0)", "np.isfinite(rows), rows, 0.0)"),
        ("rows = np.maximum(rows, 0.0)", "rows = np.abs(rows)"),
        ("too_long = largest * sizes > self.radius", "too_long = largest > self.radius"),
        ("return np.where(too_long, directions * (inside / sizes), rows)", "return rows"),
        ("directions * (inside / sizes)", "directions * inside"),
        ("np.abs(rows).sum(axis=-1, keepdims=True)", "rows.sum(axis=-1, keepdims=True)"),
        ("np.sqrt(np.square(rows).sum(axis=-1, keepdims=True))", "np.square(rows).sum(axis=-1, keepdims=True)"),
        ("upwards(Fraction(self.radius) * rows), self.nonnegative)", "self.radius, self.nonnegative)"),
        ("* rows), self.nonnegative)", "* rows), True)"),
        ("- 4 * ULP)", "+ 4 * ULP)"),
    ),
    *_of("core/neighbors", ("1 if self is Neighbors.ADD_REMOVE else 2", "1"), tests="core/test_bound.py"),
    *_of(
        "core/grid",
        ("np.trunc(values *", "np.rint(values *"),
        ("[1] - CELLS)", "[1] - CELLS + 40)"),
    ),
    *_of("core/rounding", ("math.inf", "-math.inf"), tests="core/test_bound.py core/test_grid.py core/test_answer.py"),
    *_of(
        "core/question",
        ("self.grid.cut(self.bound.clip(self.of(records)))", "self.grid.cut(self.of(records))"),
        tests="trust/test_exact_sum.py trust/test_private_data.py",
    ),
    # noise
    *_of(
        "noise/laplace",
        ("return np.maximum(k, -1.0 - k) / self.scale", "return np.abs(k) / self.scale"),
        ("return np.abs(k) / self.scale", "return np.abs(k) / self.scale / 1.05"),
        ("FlooredLaplaceLaw(math.ldexp(scale, finer))", "FlooredLaplaceLaw(scale)"),
        ("Interval.of(max(k, -1 - k)) / self.scale", "Interval.of(k) / self.scale"),
    ),
    *_of(
        "noise/gaussian",
        ("return np.square(k / self.scale) / 2", "return np.square(k / self.scale)"),
        ("return np.square((k + u) / self.scale) / 2", "return np.square(k / self.scale) / 2"),
        (
            "return ((Interval.of(k) + u) / self.scale).square() / 2",
            "return (Interval.of(k) / self.scale).square() / 2",
        ),
    ),
    *_of(
        "noise/exponential",
        ("return k / self.scale", "return k / self.scale * 0.95"),
        ("    sides = 1", "    sides = 2"),
    ),
    *_of(
        "noise/staircase",
        ("left = left[below & (sizes == 0)]", "left = left[:0]"),
        ("period - tread) / tread)\n    behind", "period - tread) / period)\n    behind"),
        ("on_tread, tread + off_tread)", "on_tread, off_tread)"),
        ("upwards(1 / Fraction(fall))", "upwards(2 / Fraction(fall))"),
    ),
    *_of(
        "noise/bernoulli",
        ("below = digits < whole", "below = digits <= whole"),
        ("below[equal] = _below(bits, equal.size, further)", "pass"),
    ),
    *_of(
        "noise/uniform",
        ("again = np.flatnonzero(words > last)", "again = np.flatnonzero(words < 0)"),
        ("(1 << 64) // upper * upper - 1)", "(1 << 64) // upper * upper - 2)"),
        ("for run in _runs(tied.tolist()):", "for run in _runs([]):"),
    ),
    *_of(
        "noise/dealing",
        ("permutations(bits, copies, max(n, places))", "permutations(bits, copies, places)"),
        ('np.argsort(places, kind="stable")', "np.arange(n)"),
    ),
    *_of(
        "noise/bits",
        ("own.process != process or", "False or"),
        ("own.stream.spent >= KEY_LIFE", "False"),
        ("return SystemBits, ()", "return (lambda: self), ()"),
    ),
    # mechanisms
    *_of(
        "mechanisms/additive/additive_noise",
        ("answer = answer.coarsened(self.multiplier, self.norm)", "pass"),
        ("answer.scale(self.multiplier, self.norm)))", "answer.scale(1.0, self.norm)))"),
        ("self.deviation * self.multiplier * bound", "self.multiplier * bound"),
        tests="mechanisms/additive/test_laplace.py mechanisms/additive/test_gaussian.py",
        audits=("Laplace", "Gaussian"),
    ),
    *_of(
        "mechanisms/additive/laplace",
        ('norm: ClassVar[Norm] = "l1"', 'norm: ClassVar[Norm] = "l2"'),
        audits=("Laplace",),
    ),
    *_of(
        "mechanisms/additive/gaussian",
        ('norm: ClassVar[Norm] = "l2"', 'norm: ClassVar[Norm] = "linf"'),
        audits=("Gaussian",),
    ),
    *_of(
        "mechanisms/additive/discrete_gaussian",
        ("upwards(1 / (2 * Fraction(self.multiplier) ** 2))", "upwards(1 / (4 * Fraction(self.multiplier) ** 2))"),
    ),
    *_of("mechanisms/additive/discrete_laplace", ("upwards(1 / Fraction(", "upwards(0.9 / Fraction(")),
    *_of(
        "mechanisms/additive/bounded_noise",
        ("rounded_bounded(bits, shape, RADIUS * scale", "rounded_bounded(bits, shape, 3 * scale"),
        ("if answer.size > self.queries:", "if answer.size > 2 * self.queries:"),
        ("one if self.queries == 1 else Repeated(one, int(self.queries))", "one"),
    ),
    *_of(
        "mechanisms/selection/exponential",
        ("multiplier = (1 if answer.monotone else 2) / Fraction", "multiplier = 1 / Fraction"),
        ("width = Fraction(epsilon) ** 2 / 8", "width = Fraction(epsilon) ** 2 / 16"),
        ("initial=-(2**61)), -FARTHEST)", "initial=-(2**61)), -1)"),
        audits=("Exponential",),
    ),
    *_of(
        "mechanisms/selection/top_k",
        (
            "(1 if answer.monotone else 2) / Fraction(self.epsilon / self.count)",
            "1 / Fraction(self.epsilon / self.count)",
        ),
        ("/ Fraction(self.epsilon / self.count)", "/ Fraction(self.epsilon)"),
        ("-np.inf, axis=-1)", "0.0, axis=-1)"),
        audits=("TopK",),
    ),
    *_of(
        "mechanisms/selection/randomized_response",
        ("return self.categories / (math.exp", "return 1 / (math.exp"),
        ("np.clip(answer.steps[..., 0], 0, self.categories - 1)", "answer.steps[..., 0]"),
        (
            "math.log1p(self.categories * (1 - self.chance) / self.chance)",
            "math.log1p((1 - self.chance) / self.chance)",
        ),
        audits=("RandomizedResponse",),
    ),
    *_of(
        "mechanisms/selection/key_selection",
        ("* rows * neighbors.reach), LEAST_SCALE)", "* rows), LEAST_SCALE)"),
        ("* rows * neighbors.reach), LEAST_SCALE)", "* neighbors.reach), LEAST_SCALE)"),
        ("math.log(rows / (2 * self.delta))", "math.log(1 / (2 * self.delta))"),
        ("math.log(rows / (2 * self.delta))", "math.log(rows / (4 * self.delta))"),
        ("math.ceil(rows + 0.5 + max(0.0, margin))", "math.ceil(0.5 + max(0.0, margin))"),
        ("math.ceil(rows + 0.5 + max(0.0, margin))", "math.floor(rows + 0.5 + max(0.0, margin))"),
        ("np.flatnonzero(noisy >= self", "np.flatnonzero(answer.counts >= self"),
        audits=("KeySelection",),
    ),
    *_of(
        "mechanisms/ranks/rank_grid",
        ("joined = RANK if part in (0, RANK) else 2 * max(part, RANK - part)", "joined = max(part, RANK - part)"),
        ("return RANK if part in (0, RANK) else 2 * RANK", "return joined"),
        ("return 2 * joined", "return joined"),
        ("parted=parted) * rows / Fraction(epsilon)", "parted=parted) / Fraction(epsilon)"),
        ("round(self.q * RANK) * np.asarray(records)", "round(self.q * RANK) * np.asarray(records + 1)"),
        ("np.rint(shares, out=shares)", "np.floor(shares, out=shares)"),
        tests="mechanisms/ranks/test_rank_grid.py mechanisms/ranks/test_quantile.py",
        audits=("Quantile", "Quantiles"),
    ),
    *_of("mechanisms/ranks/quantile", ("behind == 0 or Size(1", "True or Size(1"), audits=("Quantile",)),
    *_of(
        "mechanisms/ranks/quantiles",
        ("parted=level > 0)", "parted=False)"),
        (
            "return Repeated(price(self.epsilon / self.depth), self.depth)",
            "return Repeated(price(self.epsilon / self.depth), 1)",
        ),
        ("return len(self.q).bit_length()", "return max(1, len(self.q).bit_length() - 1)"),
        ("scatter.places(np.tile(cells, len(part)), bits)", "(np.tile(cells, len(part)) << scatter.finer)"),
        audits=("Quantiles",),
    ),
    *_of(
        "mechanisms/ranks/shortlist",
        ("part += (bits.words", "part += 0 * (bits.words"),
        ("np.concatenate([known.places, rest])", "np.concatenate([known.places, known.places, rest])"),
        ("below[edges[::2]])", "kept[edges[::2]])"),
        tests="mechanisms/ranks/test_shortlist.py",
    ),
    *_of(
        "mechanisms/ranks/box_depth",
        ("- GRAIN, 0.0) / neighbors.reach", "- GRAIN, 0.0)"),
        ("depths = rows * np.arange(1, number // rows + 1)", "depths = np.arange(1, number + 1)"),
        ("sizes + steepness * depths", "sizes + 2 * steepness * depths"),
        audits=("BoxDepth",),
    ),
    *_of(
        "mechanisms/stable/sample_and_aggregate",
        ("return answer.rows * self.deals", "return answer.rows"),
        ("return answer.rows * self.deals", "return self.deals"),
        ("self.unit(answer), Neighbors.REPLACE", "self.unit(answer), Neighbors.ADD_REMOVE"),
        audits=("SampleAndAggregate",),
    ),
    *_of(
        "mechanisms/online/online_sparse_vector",
        ("return self.count if monotone else 2 * self.count", "return self.count"),
        ("(Fraction(self.epsilon) - 1 / self.threshold_multiplier(monotone))", "Fraction(self.epsilon)"),
        ("1 / Fraction(self.epsilon / (1 +", "1 / Fraction(2 * self.epsilon / (1 +"),
        ("- above < self._left", "- above <= self._left"),
        ("self._left = self._left - (above & asked)", "self._left = self._left - 0 * (above & asked)"),
        ("if self._threshold is None:", "if True:"),
        ("scale(self._mechanism.threshold_multiplier(queries.monotone),", "scale(1,"),
        ("above = queries.steps + noise >=", "above = queries.steps >="),
        ("multiplier = 2 * self.count / Fraction(self.epsilon)", "multiplier = 2 / Fraction(self.epsilon)"),
        ("SparseVector(self.epsilon / 2, self.threshold", "SparseVector(self.epsilon, self.threshold"),
        audits=("SparseVector", "NumericSparseVector"),
    ),
    *_of(
        "mechanisms/online/queries",
        ('bound=Bound("linf", answer.sensitivity("linf"))', 'bound=Bound("linf", answer.bound.radius)'),
        ("self._answer.slack * self._answer.size", "self._answer.slack"),
        ("np.abs(answer.steps - answer_steps", "(answer.steps - answer_steps"),
    ),
    *_of(
        "mechanisms/online/mwem",
        ("Exponential(self.epsilon / (2 * self.rounds + 2))", "Exponential(self.epsilon / (2 * self.rounds))"),
        ("Laplace((2 * self.rounds + 2) / self.epsilon)", "Laplace((2 * self.rounds) / self.epsilon)"),
        ("Repeated(measured, self.rounds + 2)", "Repeated(measured, self.rounds + 1)"),
        audits=("MWEM",),
    ),
    *_of(
        "mechanisms/online/net",
        ("Exponential((1 - FOR_TOTAL) * self.epsilon)", "Exponential(self.epsilon)"),
        ("Laplace(1 / (FOR_TOTAL * self.epsilon))", "Laplace(1 / self.epsilon)"),
        audits=("NetMechanism",),
    ),
    *_of(
        "mechanisms/online/online_queries",
        ("SparseVector(self.epsilon / 2, self.threshold", "SparseVector(self.epsilon, self.threshold"),
        ("Laplace(2 * (self.updates + 1) / self.epsilon)", "Laplace(2 * self.updates / self.epsilon)"),
        ("Repeated(self.noise.event, self.updates + 1)", "Repeated(self.noise.event, self.updates)"),
        ("self._over = True", "pass"),
    ),
    *_of(
        "mechanisms/stable/stable_figures",
        ("np.maximum(3 * both, 2 * single).min()) // 6) - 2)", "np.maximum(3 * both, 2 * single).min()) // 6) - 1)"),
        ("np.maximum(both, single).min()) // 4) - 1)", "np.maximum(both, single).min()) // 4))"),
        ("return Measured(place, max(rows - 1, 0))", "return Measured(place, rows)"),
        ("moves.to_narrow(int(ends[place])))", "moves.to_narrow(int(ends[place]) - 1))"),
    ),
    *_of(
        "mechanisms/stable/propose_test_release",
        ("risk = 2 * self.delta / len(self.figures)", "risk = 2 * self.delta"),
        ("(rows - 1 + rows * self.multiplier", "(rows * self.multiplier"),
        ("(rows - 1 + rows * self.multiplier", "(rows - 1 + self.multiplier"),
        ("Fraction(self.multiplier) * answer.rows), FINENESS)", "Fraction(self.multiplier)), FINENESS)"),
        ("Fraction(self.multiplier) * answer.rows * bound)", "Fraction(self.multiplier) * bound)"),
        (
            "1 if figure.bound == 0 else 2 for figure in self.figures)\n        return upwards",
            "1 for figure in self.figures)\n        return upwards",
        ),
        audits=("ProposeTestRelease",),
    ),
    *_of(
        "mechanisms/ranks/order_statistic",
        ("-(-self._parts // RANK), 1), len", "self._parts // RANK, 1), len"),
        ('side="right"), first)', 'side="left"), first)'),
        ("last, padded = max(first, 1),", "last, padded = max(first - 1, 0),"),
        ("inside = (rights - lefts - 1)", "inside = (rights - lefts)"),
    ),
    *_of(
        "mechanisms/stable/smooth_sensitivity",
        ("one = self.beta / rows", "one = self.beta"),
        ("* math.fsum(math.exp(one * i) for i in range(rows))", ""),
        ("self.bound(found, answer.rows) / self.slide", "self.bound(found, 1) / self.slide"),
        ("return self.epsilon / 2 * inside(self.epsilon)", "return self.epsilon * inside(self.epsilon)"),
        ("self.delta / 2 * math.exp(-self.epsilon / 2))", "self.delta / 2)"),
        (
            "return greatest(gaussian_shrunk, self.epsilon / 2, self.delta / 2)",
            "return greatest(gaussian_shrunk, self.epsilon / 2, self.delta)",
        ),
        ("return self.epsilon / (2 * self.degrees)", "return self.epsilon / self.degrees"),
        ("math.sinh(self.epsilon / 2 / (self.degrees + 1))", "math.sinh(self.epsilon / 2 / self.degrees)"),
        audits=("SmoothStudent", "SmoothLaplace", "SmoothGaussian"),
    ),
    *_of(
        "mechanisms/additive/shifted_noise_loss",
        ("math.exp(-(epsilon + beta) / math.expm1(beta))", "math.exp(-epsilon / math.expm1(beta))"),
        ("edge = math.sqrt(2 * (epsilon + beta)", "edge = math.sqrt(2 * (epsilon + 2 * beta)"),
        ("(epsilon / slide + side * slide / 2", "(epsilon / slide + side * slide"),
    ),
    *_of(
        "mechanisms/additive/staircase",
        ('period = math.ceil(answer.scale(1.0, "l1"))', 'period = math.floor(answer.scale(1.0, "l1"))'),
        ("math.floor(self.tread * period) + 1, period)", "math.floor(self.tread * period), period)"),
        ("if answer.size != 1:", "if False:"),
        audits=("Staircase",),
    ),
    *_of(
        "mechanisms/additive/snapping",
        ("np.rint(np.ldexp(noisy, -exponent)) + 0.0", "np.rint(np.ldexp(noisy, -exponent))"),
        ("return exponent - 1 if mantissa == 0.5 else exponent", "return exponent - 1"),
        audits=("Snapping",),
    ),
    *_of(
        "mechanisms/vectors/spherical_laplace",
        ("math.sqrt(size + 1) * self.multiplier", "math.sqrt(size) * self.multiplier"),
        audits=("SphericalLaplace",),
    ),
    *_of(
        "mechanisms/vectors/sphere_report",
        ("if answer.neighbors is not Neighbors.REPLACE:", "if False:"),
        ("whole = radius * math.sqrt(size) if box else radius", "whole = radius"),
        ("uneven = math.log1p(", "uneven = -math.log1p("),
        audits=("SphereReport",),
    ),
    *_of(
        "mechanisms/vectors/johnson_lindenstrauss",
        ("growth = self.rows * math.log1p", "growth = math.log1p"),
        ("one if self.neighbors is Neighbors.ADD_REMOVE else exchanged(one)", "one"),
        ("math.sqrt(self.multiplier) * self.radius * (1", "self.multiplier * self.radius * (1"),
        ("if records.rows > self.rows or", "if"),
        audits=("JohnsonLindenstrauss",),
    ),
    *_of(
        "mechanisms/learning/objective_perturbation",
        ("return self.rows * math.log1p(", "return math.log1p("),
        ("self.multiplier * self.units * self.radius * ROUNDING", "self.multiplier * self.radius * ROUNDING"),
        ("self.tolerance - lost, self.grid", "self.tolerance * 1e6, self.grid"),
        audits=("ObjectivePerturbation",),
    ),
    *_of(
        "mechanisms/learning/tilted_loss",
        ("part = shift * k / units", "part = shift * k / units / 2"),
        ("LossTable(first, (1 - tails[0]", "LossTable(0, (1 - tails[0]"),
        tests="mechanisms/learning/test_objective_perturbation.py",
    ),
    *_of(
        "mechanisms/learning/output_perturbation",
        ("times(self.rows), self.neighbors)", "times(1), self.neighbors)"),
        audits=("OutputPerturbation",),
    ),
    *_of(
        "mechanisms/learning/perturbation",
        ("return self.penalty * self.radius**2", "return self.penalty * self.radius"),
        ("if records.rows > self.rows or", "if"),
        tests="mechanisms/learning/test_objective_perturbation.py mechanisms/learning/test_output_perturbation.py",
    ),
    *_of(
        "mechanisms/learning/penalized_loss",
        ("self._errors(points, tilts) <= tolerance", "0 <= tolerance"),
        ("yield point - now / Decimal(self._steepest)", "yield point + now / Decimal(self._steepest)"),
        ("after, now = points - slopes / self._steepest", "after, now = points + slopes / self._steepest"),
    ),
    *_of(
        "questions/squared_loss",
        ("(2 * targets * math.sqrt(size) + size)", "(2 * math.sqrt(size) + size)"),
        ("twice = np.where(first == second, 1.0, 2.0)", "twice = np.where(first == second, 1.0, 1.0)"),
        ("rows[np.isnan(records).any(axis=1)] = 0.0", "rows[np.isnan(records).all(axis=1)] = 0.0"),
    ),
    *_of(
        "questions/signed_records",
        ("== self.place, 1.0, -1.0)", "== self.place, -1.0, 1.0)"),
        ("missing = np.isnan(records).any(axis=1", "missing = np.isnan(records).all(axis=1"),
        ("/ math.sqrt(len(self.weights))", "/ len(self.weights)"),
    ),
    *_of(
        "learners/risk_minimizer",
        ("Repeated(mechanism.event, times) if times > 1", "mechanism.event if times > 1"),
        ("return calibrate(mechanism, task.budget, times)", "return calibrate(mechanism, task.budget)"),
        tests="learners/test_erm_classifier.py",
    ),
    *_of(
        "learners/erm_classifier",
        ("event=Composed((rough.noise.event, plan.event))", "event=plan.event"),
        ("Budget((1 - SHARE) * budget.epsilon", "Budget(budget.epsilon"),
    ),
    *_of(
        "mechanisms/shares/gaussian_share",
        ("scale * (1 + grown) / math.sqrt(self.honest)", "scale * (1 + grown) / self.honest"),
        ("share < LEAST or", "False or"),
    ),
    *_of(
        "mechanisms/shares/laplace_share",
        ("return own.steps + up - down", "return own.steps + up"),
        ("return least * (1 + grown)", "return least * (1 - grown)"),
        ("polya(bits, own.steps.shape, scale, self.honest)", "polya(bits, own.steps.shape, scale, self.honest + 1)"),
    ),
    # accounting
    *_of(
        "accounting/gaussian",
        ("x = epsilon / mu - mu / 2", "x = epsilon / mu - mu"),
        ("epsilon + float(log_ndtr(-x - mu))", "float(log_ndtr(-x - mu))"),
        ("while excess(root) > 0:", "while False:"),
    ),
    *_of(
        "accounting/laplace",
        ("-math.expm1(-beyond / 2)", "-math.expm1(-beyond)"),
        ("-2 * Fraction(math.log1p", "-3 * Fraction(math.log1p"),
        ("(1 - MARGIN)", "(1 + MARGIN)"),
    ),
    *_of(
        "accounting/accountant",
        (
            "case (Term(LaplaceLoss(multiplier), 1),):\n            return laplace_e",
            "case (Term(LaplaceLoss(multiplier)),):\n            return laplace_e",
        ),
        tests="accounting/test_laplace.py",
    ),
    *_of(
        "accounting/leaf_renyi",
        (
            "math.sinh(a) * math.sinh(b) / math.cosh(epsilon / 2)) / (order - 1)",
            "math.sinh(a) * math.sinh(b) / math.cosh(epsilon / 2)) / order",
        ),
        ("math.log(order / (2 * order - 1)) + rest", "math.log(order / (2 * order - 1)) - rest"),
        ("share = (order - below) / (above - below)", "share = (above - order) / (above - below)"),
        ("float(losses.max()) - math.log1p(-infinity), infinity)", "float(losses.max()), 0.0)"),
        tests="accounting/test_renyi.py",
    ),
    *_of(
        "accounting/theorems",
        ("math.sqrt(2 * times * math.log(1 / slack)) * epsilon", "math.sqrt(times * math.log(1 / slack)) * epsilon"),
        ("(times * delta + slack) * UP", "(delta + slack) * UP"),
        ("2 * math.sqrt(rho * math.log(1 / delta))", "math.sqrt(rho * math.log(1 / delta))"),
        ("math.log1p(rate * math.expm1(epsilon))", "rate * epsilon"),
    ),
    *_of(
        "accounting/group",
        ("return GaussianLoss(multiplier / size)", "return GaussianLoss(multiplier / math.sqrt(size))"),
        ("ConcentratedLoss(size**2 * rho)", "ConcentratedLoss(size * rho)"),
        ("delta * _steps(epsilon, size)", "delta * size"),
    ),
    *_of(
        "accounting/terms",
        ("yield Term(term.event, term.times * times)", "yield Term(term.event, times)"),
        ("counts.get(term.event, 0) + term.times", "term.times"),
        ("return a <= b\n", "return a >= b\n"),
        ("return a >= b and c >= d", "return a >= b"),
        ("math.fsum(times * m**-2 for m", "math.fsum(m**-2 for m"),
        ("if replaced and (split or len(replaced) < len(sampled)):", "if replaced and split:"),
        tests="accounting/test_terms.py accounting/test_composition.py accounting/test_accountant.py",
    ),
    *_of(
        "accounting/admission",
        ("if waiver is None or not waiver.strip():", "if False:"),
        (
            'needed = Neighbors.ADD_REMOVE if scheme == "poisson" else Neighbors.REPLACE',
            "needed = Neighbors.ADD_REMOVE",
        ),
        ("if neighbors not in (None, needed):", "if False:"),
        ("if len(unpromised) < len(leaves):", "if False:"),
        tests="accounting/test_memory_ledger.py accounting/test_ledger.py trust/test_private_data.py",
    ),
    *_of(
        "accounting/jumps",
        ("steady + once + self.several + self.infinity", "steady + once + self.infinity"),
        (
            "return self.jumps.times * float(self.jumps.masses @ found) * (1 + ROUNDING)",
            "return float(self.jumps.masses @ found)",
        ),
        (
            "np.minimum.accumulate(np.minimum(found.values, 1.0))",
            "np.minimum.accumulate(np.minimum(found.values, 1.0)[::-1])[::-1]",
        ),
        tests="accounting/test_jumps.py",
    ),
    *_of(
        "accounting/tabulation",
        ("    masses[0] += cells.p[0] + cells.p_error[0]\n", ""),
        tests="accounting/test_jumps.py accounting/test_tabulation.py",
    ),
    *_of(
        "accounting/single_release",
        ("return _Found(p - q, ", "return _Found(p - 2 * q, "),
        tests="accounting/test_jumps.py",
    ),
    *_of(
        "accounting/subset_witness",
        ("<= profile - SAFE", "<= 1.01 * profile"),
        ("common, apart = 1 - p - q, 1 - 2 * q", "common, apart = 1 - p - q, 1 - 2 * q - 0.01"),
    ),
    *_of(
        "accounting/standing",
        ("if budget.epsilon < old.epsilon or budget.delta < old.delta or budget == old:", "if budget == old:"),
        ("if Union(members).delta > budget.delta:", "if False:"),
        ("if standing.union is not None and not all(member.sound", "if False and not all(member.sound"),
        ('raise ValueError("the account has expired")', "pass"),
        tests="accounting/test_raising.py",
    ),
    *_of(
        "accounting/book_ledger",
        ("if closed := page.chain.accounts[account].closed(purpose, account):", "if closed := None:"),
        tests="accounting/test_raising.py",
    ),
    *_of(
        "accounting/sampled_renyi",
        ("k * math.log(rate) + (order - k) * math.log1p(-rate)", "k * math.log(rate)"),
        (
            "moments = np.array([_log_expm1((j - 1) * curve(j)) for j in k])",
            "moments = np.array([_log_expm1(j * curve(j)) for j in k])",
        ),
        ("return min(plain, once, max(removal, addition))", "return min(plain, once, removal, addition)"),
        tests="accounting/test_renyi.py",
    ),
    *_of(
        "accounting/amount",
        ("return self.loss <= cap.loss and self.delta <= cap.delta", "return self.loss <= cap.loss"),
        ("return cls(math.ceil(_finite(loss) * LOSS_UNITS)", "return cls(math.floor(_finite(loss) * LOSS_UNITS)"),
    ),
    *_of(
        "accounting/pure_filter",
        ("delta += term.times * Fraction(failure)", "delta += Fraction(failure)"),
        ("epsilon += term.times / Fraction(multiplier)", "epsilon += 1 / Fraction(multiplier)"),
        ("Fraction(epsilon) + Fraction(units, DELTA_UNITS)", "Fraction(epsilon) + 2 * Fraction(units, DELTA_UNITS)"),
    ),
    *_of("accounting/renyi_filter", ("(delta * a).ln() / (a - 1)", "(delta * a).ln() / a")),
    *_of(
        "accounting/gaussian_filter",
        ("return p * near - (1 - p) * far", "return p * near - far / 2"),
        ("failures += times * loss.delta", "pass"),
        ("return math.erf(math.sqrt(room / 8))", "return math.erf(math.sqrt(room / 4))"),
        ("fits = distance(epsilon, middle) + SLACK <= _distance(room)", "fits = middle + epsilon**2 <= room"),
        ("rest = room - times * price_beside(epsilon, half)", "rest = room"),
        ("        if excess <= 0:\n", "        if excess <= 1:\n"),
    ),
    *_of(
        "accounting/union",
        ("None if before is None or price is None else before + price", "before if price is None else price"),
        ("if amount is not None and amount.within(member.cap)}", "if amount is not None}"),
        ("part = (whole - (needed or 0)) / PARTS", "part = whole / PARTS"),
        ("needed if needed <= whole else None)", "needed)"),
        (
            "share = whole - Fraction(sum(member.share for member in kept), DELTA_UNITS) - failures",
            "share = whole - failures",
        ),
        ("failures - Fraction(renyi(first, 2.0).delta))", "failures)"),
    ),
    *_of(
        "accounting/standing",
        ("return replace(self, spent=self.union.after(event, self.spent))", "return self"),
        ("if union.delta > self.budget.delta:", "if False:"),
        ("after is None or (before is not None and before.within(after))", "True"),
        ("if not all(member.sound for member in union.members):", "if False:"),
        tests="accounting/test_ledger.py accounting/test_ledger_damage.py",
    ),
    *_of(
        "accounting/book_ledger",
        ("                    raise no\n", "                    pass\n"),
        ("check_same(done, result)", "pass"),
        tests="accounting/test_memory_ledger.py accounting/test_ledger.py",
    ),
    *_of(
        "accounting/memory_book",
        ("if os.getpid() != self._process:", "if False:"),
        tests="accounting/test_memory_ledger.py",
    ),
    # trust
    *_of(
        "trust/permit",
        ("if not price <= self._unspent:", "if False:"),
        ("self._unspent -= price", "pass"),
        ("        if not self._open:\n", "        if False:\n"),
        ("self._open = False\n            if", "pass\n            if"),
        ("if self._stored.holds(asked):", "if self._stored.releases:"),
        ("count * times for single", "count for single"),
        tests="trust/test_private_data.py trust/test_permit.py",
    ),
    *_of("trust/curator", ("return not promised(event)", "return True")),
    *_of(
        "core/question",
        ("question.grid, question.bound.times(view.unit.rows)", "question.grid, question.bound"),
        (
            "question.bound.times(view.unit.rows), view.neighbors)",
            "question.bound.times(view.unit.rows), Neighbors.REPLACE)",
        ),
        tests="trust/test_curator.py",
    ),
    *_of(
        "questions/all_records",
        ("view.unit.rows, view.neighbors)", "1, view.neighbors)"),
        tests="trust/test_curator.py",
    ),
    *_of(
        "questions/key_counts",
        ("view.unit.rows, view.neighbors)", "1, view.neighbors)"),
        tests="trust/test_curator.py",
    ),
    *_of(
        "questions/block_sum",
        ("self.bound.times(view.unit.rows), Neighbors.REPLACE)", "self.bound, Neighbors.REPLACE)"),
        ("view.unit.rows), Neighbors.REPLACE)", "view.unit.rows), view.neighbors)"),
        ('return Bound("linf", float(self.deals))', 'return Bound("linf", 1.0)'),
        tests="questions/test_block_sum.py trust/test_curator.py",
    ),
    *_of(
        "mechanisms/additive/additive_noise",
        ('if not {"noise", "release"}.isdisjoint(vars(cls)):', "if False:"),
    ),
    *_of(
        "trust/local",
        ("neighbors = Neighbors.REPLACE", "neighbors = Neighbors.ADD_REMOVE"),
        ("if source.unit != RECORD:", "if False:"),
        ("if not isinstance(question, BoundedSum) or not", "if not"),
    ),
    *_of(
        "trust/exact_sum",
        (
            "question.grid.cut(question.bound.clip(question.grid.values(sums)))",
            "question.grid.cut(question.grid.values(sums))",
        ),
        ("sums[0] += unfinished[0]", "pass"),
        ("total += settled(question, sums[:-1])", "total += sums[:-1].sum(axis=0)"),
        ("2.0**52 * question.grid.step", "2.0**70 * question.grid.step"),
    ),
    *_of(
        "trust/private_data",
        ("if theirs is not None and mine != theirs:", "if False:"),
        ("check_relation(plan, self.neighbors, purpose)", "pass"),
        ("            if not self.keeps(event):\n", "            if False:\n"),
        ("if self.neighbors is Neighbors.REPLACE and self.unit.kind", "if self.unit.kind"),
        ('purpose = f"{purpose} where {self.condition}"', "pass"),
        tests="trust/test_private_data.py trust/test_local.py trust/test_filtered.py",
    ),
    *_of(
        "trust/permit",
        ("identity((self._trust.schema, asked))", "identity(asked)"),
        ("self._identity((question, mechanism))", "self._identity(mechanism)"),
        ("self._identity((question, mechanism))", "self._identity(question)"),
        tests="trust/test_permit.py",
    ),
    *_of(
        "questions/filtered",
        ("np.where(chosen(records)[:, None], question.of(records[:, :width]), 0.0)", "question.of(records[:, :width])"),
        ("records[chosen(records), : len(columns)]", "records[:, : len(columns)]"),
        (
            "return self._view.sum(_sum_of(question, self._condition), sample)",
            "return self._view.sum(question, sample)",
        ),
    ),
    *_of(
        "questions/grouped",
        ('if bound.norm == "linf" and size == 1 else bound', "if False else bound"),
        ("inside &= (records[:, i] >= edges[0]) & (records[:, i] <= edges[-1])", "pass"),
        ('order = np.argsort(places, kind="stable")', "order = np.arange(len(places))"),
    ),
    *_of(
        "trust/filtered",
        ("    units = None\n", "    units = 3\n"),
        ("self.trust.curated and self.neighbors is Neighbors.ADD_REMOVE", "self.trust.curated"),
        ("self.neighbors is Neighbors.REPLACE and not", "False and not"),
    ),
    *_of(
        "core/condition",
        ("SIGNS[self.sign](own, self.value) & ~np.isnan(own)", "SIGNS[self.sign](own, self.value)"),
        ('return f"coalesce({left} {written} {right}, FALSE)"', 'return f"({left} {written} {right})"'),
        tests="core/test_condition_text.py",
    ),
    *_of(
        "trust/party",
        ("party.charged(self.call.event, self.purpose, self.round)", "pass"),
        ("if not isinstance(charge, Reservation):", "if False:"),
        ("party.policy.check(self.call.recipe, self.call.event)", "pass"),
        ('message.sender != federation.server.name or message.kind != "call"', 'message.kind != "call"'),
        ("and not party.ledger.affords(self.call.event)", "and False"),
        ("self.federation.neighbors is Neighbors.REPLACE and", "True and"),
        ("bound = question.bound.times(party.federation.unit.rows)", "bound = question.bound"),
        tests="trust/test_party.py trust/test_policy.py trust/test_secure_sum.py",
    ),
    *_of(
        "trust/policy",
        ("if name not in self.recipes]", "if False]"),
        ("if price > self.most.epsilon:", "if price > 2 * self.most.epsilon:"),
    ),
    *_of(
        "trust/call",
        ("if call.built != own:", "if False:"),
        ("sha256(framed(federation.digest, self.written()))", "sha256(framed(federation.digest))"),
        tests="trust/test_call.py trust/test_secure_sum.py",
    ),
    *_of(
        "trust/federation",
        ("return self.threshold - self.colluding", "return self.threshold"),
        ("if self.neighbors is Neighbors.REPLACE and self.threshold < len(self.parties):", "if False:"),
    ),
    *_of(
        "trust/sources/source",
        ('source.unit.kind == "record" and not source.counted:', 'source.unit.kind == "record" and False:'),
        tests="trust/sources/test_query.py",
    ),
    *_of(
        "trust/sources/csv_fields",
        ("ends = ends[_before(quotes, ends) % 2 == 0]", "ends = ends[:]"),
        ("quotes[2::2] != quotes[1:-1:2] + 1", "quotes[2::2] != quotes[1:-1:2] + 2"),
        ("return (behind == delimiter) | (behind == LINE)", "return behind == delimiter"),
    ),
    *_of(
        "trust/isolation/walls",
        ("        confine()", "        pass"),
        tests="trust/isolation/test_isolated.py",
    ),
    *_of(
        "core/value",
        ("if value is None or len(value) > LONGEST or not", "if value is None or not"),
        ('return "true" if value else "false"', 'return "True" if value else "False"'),
        ("number + 0.0 if abs(number) < np.inf else", "number + 0.0 if False else"),
        tests="trust/sources/test_decoding.py trust/sources/test_one_record.py",
    ),
    *_of(
        "accounting/book",
        ("if (link is not None) != self.chain.holds(kind, key):", "if False:"),
        tests="accounting/test_ledger_damage.py",
    ),
    # questions
    *_of(
        "questions/query_weighting",
        ("np.abs(", "np.asarray("),
    ),
    *_of(
        "questions/workload",
        (
            'lengths = np.abs(weights).sum(axis=0) if norm == "l1"',
            'lengths = np.abs(weights).max(axis=0) if norm == "l1"',
        ),
        ("np.sqrt(np.square(weights).sum(axis=0))", "weights.max(axis=0)"),
    ),
    *_of(
        "questions/domain",
        ("there = values[~np.isnan(values)]", "there = values"),
        ("places += values >= ends[places + 1]", "pass"),
    ),
    *_of(
        "questions/rows_per_unit",
        ('Bound("linf", 1.0)', 'Bound("linf", 0.5)'),
        ('Bound("linf", 1.0, nonnegative=True)', 'Bound("linf", 0.5, nonnegative=True)'),
        tests="statistics/ranks/test_choose_rows.py",
    ),
    *_of(
        "core/neighbors",
        ("return (self.kind, self.column) == (other.kind, other.column)", "return self.kind == other.kind"),
        tests="statistics/ranks/test_choose_rows.py",
    ),
    *_of("questions/acute_bound", ("one * math.sqrt(2) * stretch", "one * stretch")),
    *_of(
        "questions/gradients",
        ('Bound("l2", longest * (1 + 2.0**-30))', 'Bound("l2", longest / 1.2)'),
        tests="conformance/test_recipes.py",
    ),
    *_of(
        "questions/pair_moments",
        ("** 2 + 3 * (part * longest) ** 2)", "** 2)"),
        ("most = products + part * (5 * n + 1) / 2 * longest", "most = products"),
        ("inside = np.clip(z, -most, most)", "inside = z"),
    ),
    *_of(
        "questions/second_moments",
        ("Grid(2 * coordinates.grid.exponent - EIGHTHS)", "Grid(2 * coordinates.grid.exponent)"),
        ("sums += steps @ steps.T", "sums = steps @ steps.T"),
        tests="statistics/moments/test_second_moments.py",
    ),
    *_of(
        "questions/mixture_moments",
        ('AcuteBound("l2", (1 + COUNT) * (1 + 2.0**-30))', 'AcuteBound("l2", 1 + 2.0**-30)'),
        ("np.rint(factor.T / unit) * unit", "factor.T"),
        ("np.maximum(lengths, self.radius)", "self.radius"),
        ("roots[:, nowhere] = 0.0", "pass"),
        tests="questions/test_mixture_moments.py conformance/test_recipes.py",
    ),
    *_of(
        "questions/part_moments",
        ("np.square(roots_of_shares(scaled, self._parts))", "roots_of_shares(scaled, self._parts)"),
        ("found.scaled / math.sqrt(len(columns))", "found.scaled"),
    ),
    *_of(
        "questions/product_tree",
        ("math.sqrt(steps.bit_length())", "1.0"),
        ("z[:, ~np.isfinite(records[:, -1])] = 0.0", "pass"),
        ("found[length - low] + nodes", "nodes"),
        tests="questions/test_product_tree.py conformance/test_recipes.py",
    ),
    *_of(
        "questions/directed_squares",
        ("np.square(z).sum(axis=0) - along.sum(axis=0)", "np.square(z).sum(axis=0)"),
    ),
    *_of(
        "noise/bingham",
        ("widths = 1 / np.sqrt(1 + 2 * gaps / b)", "widths = 1 / np.sqrt(1 + gaps / b)"),
        ("0.5 * (p - b) - s + 0.5", "0.5 * (p - b) - 0.9 * s + 0.5"),
        ("kept @ vectors.T", "kept @ vectors"),
    ),
    *_of(
        "mechanisms/vectors/bingham",
        ("(answer.neighbors.reach * answer.rows", "(answer.rows"),
        ("* answer.rows * answer.longest", "* answer.longest"),
        ("across.T @ answer.steps", "0.5 * across.T @ answer.steps"),
        audits=("Bingham",),
    ),
    *_of(
        "learners/mixture",
        ("/ (RESIDUAL * counts[:, None]), stddev", "/ counts[:, None], stddev"),
        ("radius**2 * (square_of", "radius * (square_of"),
    ),
    *_of(
        "learners/category_purchase",
        ("(2 * len(names))), budget, len(names))", "(2 * len(names))), budget)"),
        ("Repeated(self.selection.event, len(self.names))", "self.selection.event"),
    ),
    *_of(
        "learners/one_hot_encoder",
        ("values if isinstance(column, Category) else", "values if isinstance(column, object) else"),
        tests="learners/test_category_encoder.py",
    ),
    *_of(
        "learners/ordinal_encoder",
        ("values if isinstance(column, Category) else", "values if isinstance(column, object) else"),
        tests="learners/test_category_encoder.py",
    ),
    *_of(
        "learners/cluster_start",
        ("1 - 1 / cells.size", "0.99"),
    ),
    # transformed records, searches and evaluations
    *_of(
        "questions/transformation",
        ("np.clip(total, self.number.lower, self.number.upper) + 0.0", "total + 0.0"),
        ("(values == self.place).astype(np.float64)", "(values != self.place).astype(np.float64)"),
        tests="questions/test_transformed.py",
    ),
    *_of(
        "questions/transformed",
        ("columns=by.reads(question.columns),", "columns=question.columns,"),
        ("total=None if total is None else lambda records: total(rows(records)),", "total=total,"),
    ),
    *_of(
        "trust/random_stopping",
        ("2 * (1 - 1 / order) * curve[order]", "(1 - 1 / order) * curve[order]"),
        ("max(_divergence(price, order) for price in prices)", "min(_divergence(price, order) for price in prices)"),
        ("+ trials / (order - 1)) * SLACK", ") * SLACK"),
        ("if not cost <= self._unspent:", "if False:"),
        ("best = found if found.score > best.score else best", "best = found"),
        ("while not bernoulli(bits, 1, self.stop)[0]:", "while not bernoulli(bits, 1, self.stop / 2)[0]:"),
    ),
    *_of(
        "learners/pipeline_plan",
        ("for step in self.steps if not step.estimator.free", "for step in self.steps[1:] if not step.estimator.free"),
        ("math.sqrt(sum(own) / part) * least", "math.sqrt(part / sum(own)) * least"),
        tests="learners/test_private_pipeline.py",
    ),
    *_of("learners/private_pipeline", ("permit = TransformedPermit(permit, by)", "TransformedPermit(permit, by)")),
    *_of(
        "learners/search_plan",
        ("return stopped(events, self.stop)", "return events[0]"),
        ("(runs if stop is None else 3.0)", "(runs if stop is None else 2.0)"),
        tests="learners/test_private_search_cv.py",
    ),
    *_of(
        "learners/private_search_cv",
        ("seen = not task.data.curated or task.data.unit.rows > 1", "seen = not task.data.curated"),
    ),
    *_of(
        "learners/scores",
        ("return np.argsort(places).tolist()", "return list(range(len(places)))"),
        ("cells = records[there, -1] * (size // len(classes.values)) + places[there]", "cells = places[there]"),
        tests="learners/test_evaluate.py",
    ),
    *_of(
        "learners/row_by_row",
        ("        except Exception:", "        except KeyError:"),
        ("else np.ones(len(part), dtype=np.bool_)", "else together.doubtful"),
        ("together.doubtful if together.agrees(others)", "~together.doubtful & False if together.agrees(others)"),
    ),
    *_of(
        "learners/evaluation",
        ("weights = ((part - value * whole) / total).ravel()", "weights = (part / total).ravel() * 0.1"),
        ("np.concatenate([(above - value) / n, (below - value) / m])", "np.concatenate([above / n, below / m]) * 0"),
        tests="learners/test_evaluate.py",
    ),
    *_of(
        "learners/standard_scaler",
        ('-fitted["mean_"] * weights', 'fitted["mean_"] * weights'),
        ("np.clip(moments.error, FLATTEST, 1.0)", "0.0"),
    ),
    *_of(
        "questions/scores",
        ("nonnegative=True).times(view.unit.rows)", "nonnegative=True)"),
        ("(FINE, ROUNDED)", "(FINE, 0.0)"),
        ("if not public or sum(", "if sum("),
        tests="questions/test_scores.py questions/test_split_scores.py",
    ),
    *_of("questions/tree_scores", ("return Scores(sums, of, 1.0)", "return Scores(sums, of, 0.5)")),
    *_of(
        "questions/split_scores",
        ('"gini": 2.0', '"gini": 1.0'),
        ("math.log2(size + 1) + 1 / math.log(2)", "math.log2(size + 1)"),
    ),
    *_of("questions/column_cells", ("math.sqrt(d) * (1 + 2.0**-50)", "1.0")),
    *_of("questions/shape_gradients", ("        shrink(away, longest)", "        pass")),
    *_of(
        "questions/boosting_weights",
        ("most = float(outputs * (d + 1))", "most = float(outputs * d)"),
        ("exponential(-np.maximum(margins, 0.0))", "exponential(-margins)"),
    ),
    *_of(
        "learners/boosted_stumps",
        ("Stage(question, 1.0, self._rounds())", "Stage(question, 1.0, 1)"),
        ("NORMS[self.delta > 0]", "NORMS[self.delta == 0]"),
    ),
    *_of(
        "learners/chosen_trees",
        ("return Repeated(self.choice.event, 2)", "return self.choice.event"),
        ("Budget((1 - SHARE) * task.budget.epsilon)", "Budget(task.budget.epsilon)"),
        tests="learners/test_random_forest.py",
    ),
    *_of(
        "learners/grown_tree",
        ("return Repeated(self.noise.event, self.growth.levels)", "return self.noise.event"),
        tests="learners/test_decision_tree.py",
    ),
    *_of(
        "learners/additive_model",
        ("(d + 1) * self._rounds()", "d * self._rounds()"),
        tests="learners/test_additive_regressor.py",
    ),
    *_of(
        "accounting/replaced_pair",
        ("for shift in (0.5, -0.5, 0.0)", "for shift in (0.5, 0.0, 0.0)"),
        ("for shift in (0.5, -0.5, 0.0)", "for shift in (0.25, -0.25, 0.0)"),
        ("2 * self.multiplier**2 * (half + bend)", "2 * self.multiplier**2 * bend"),
        ("1 / (8 * self.multiplier**2)", "1 / (4 * self.multiplier**2)"),
    ),
    *_of(
        "accounting/terms",
        ('part.scheme != "poisson"]', 'part.scheme == "fixed_size"]'),
        ('event.scheme == "poisson_replace" and not', 'False and event.scheme == "poisson_replace" and not'),
        tests="accounting/test_replaced_pair.py",
    ),
    *_of(
        "trust/private_data",
        ('event.scheme == "poisson_replace" for', 'event.scheme == "never" for'),
        tests="accounting/test_replaced_pair.py",
    ),
    # audit
    *_of(
        "audit/one_run",
        ("candidates * delta / (missed + 1)", "guesses * delta / (missed + 1) ** 2"),
        ("risk / (2 * len(coins))", "risk * len(coins)"),
        ("stats.binom.sf(right - missed - 1,", "stats.binom.sf(right - missed,"),
    ),
    # deep
    *_of(
        "deep/clipped_sum",
        ("clip / norms.clamp(min=clip)", "clip / norms.clamp(min=2 * clip)"),
        ("torch.isfinite(norms) & there", "there"),
        ("_joined(forms[found], form) if found in forms else form", "form"),
        ("found.shape != (len(inputs),)", "found.dim() > 1"),
        ("form if views == 1 else form.grouped(views)", "form"),
        ("return found / views", "return found"),
    ),
    *_of(
        "deep/forms/outer_products",
        ("+ GUARD * lengths[0] * lengths[1]", ""),
        tests="deep/test_clipped_sum.py",
    ),
    *_of(
        "deep/forms/finite",
        (".nan_to_num(most, most, -most)", ""),
        (
            "inputs.to(slopes.dtype) if slopes.dtype != torch.float16 else bounded",
            "inputs.to(slopes.dtype) if True else bounded",
        ),
        tests="deep/test_clipped_sum.py",
    ),
    *_of(
        "deep/forms/cost",
        ("if images == groups == 1", "if groups == 1"),
        tests="deep/forms/test_cost.py deep/test_clipped_sum.py",
    ),
    *_of(
        "deep/forms/chosen_rows",
        ("return own + 2 * (out * met)", "return own + (out * met)"),
        tests="deep/test_clipped_sum.py",
    ),
    *_of(
        "deep/forms/patches",
        ("at * wide + step * (count - 1) + 1", "at * wide + step * count + 1"),
        ("samples * self.kernel.groups", "samples"),
        ("self._written.masked_fill_(out, 0)", "self._written"),
        ("else counted(self.inputs, weights)", "else self.inputs"),
        tests="deep/test_clipped_sum.py",
    ),
    *_of(
        "deep/layers/composite",
        ("if name in self.trained}", "}"),
        ("zip(inputs, slopes, strict=True) if slope", "zip(inputs[-1:], slopes[-1:], strict=True) if slope"),
    ),
    *_of(
        "deep/layers/standardized_convolution",
        ("moved - moved.mean(dim=2, keepdim=True)", "moved"),
        ("factor**3 * centered * along", "0 * along"),
        tests="deep/test_large_batch.py",
    ),
    *_of(
        "deep/layers/recurrent",
        ("zip(*last, strict=True)", "zip(*last[::-1], strict=True)"),
        ("new + torch.sigmoid(reset + reset_of) * new_of", "new + torch.sigmoid(reset) * new_of"),
        tests="deep/layers/test_composite.py",
    ),
    *_of(
        "deep/private_tensors",
        ("bernoulli(self.bits, len(asked), sample.rate)", "np.ones(len(asked))"),
        tests="deep/test_trainer.py",
    ),
    *_of(
        "deep/noisy_sum",
        ("sensitivity / grid.step + (", "sensitivity / grid.step / 2 + 0 * ("),
        tests="deep/test_trainer.py",
    ),
    *_of(
        "deep/noisy_gradients",
        ("self.clip = float(state", "0 * float(state"),
        ('self.clip = float(state["clip"])\n        self._begin()', 'self.clip = float(state["clip"])'),
        ("noisy[name] / self._plan.batch", "noisy[name] / self._plan.batch**2"),
        ("self._sums([blank])", "pass"),
        ("and self._data.passes(truncation)", ""),
        ("self._begin()  # a turn", "pass  # a turn"),
        ("self._views.check(blank.inputs)", "pass"),
        tests="deep/test_bands.py deep/test_clip_quantile.py deep/test_truncation.py deep/test_views.py "
        "deep/test_trainer.py",
    ),
    *_of(
        "deep/training_plan",
        ("clip if self.quantile is None else self.quantile.reach(clip)", "clip"),
        ("one = Composed((one, self.truncation.left_out(self.sample.rate)))", "pass"),
        ("event if self.truncation is None else Composed((self.truncation.test, event))", "event"),
        ("-(-steps // self.bands.count)", "steps // self.bands.count"),
        ("if self.bands is not None and (self.quantile", "if None and (self.quantile"),
        ("SecretSample(batch * bands / expected_size)", "SecretSample(batch / expected_size)"),
        tests="deep/test_clip_quantile.py deep/test_truncation.py deep/test_bands.py",
    ),
    *_of(
        "deep/bands",
        ("float(found @ found) <= 1", "float(found @ found) > 0"),
        ("found / np.linalg.norm(found)", "found"),
    ),
    *_of(
        "deep/noise_stream",
        ("self._added(self._column[0] * sums, self._sums, 1.0)", "self._column[0] * sums"),
        ("self._added(row, self._released, -1.0)", "row"),
        tests="deep/test_bands.py",
    ),
    *_of("deep/turns", ("self._groups == self._step % self._count", "self._groups >= 0"), tests="deep/test_bands.py"),
    *_of(
        "deep/optimizer_check",
        ("one.grad is not None and id(one) not in known", "False"),
        ("closure.default is Parameter.empty", "False"),
        ("isinstance(schedule, ReduceLROnPlateau)", "False"),
        tests="deep/test_trainer.py",
    ),
    *_of(
        "deep/truncation",
        ("edge = fall**self.slack * (1 - fall)", "edge = fall ** (self.slack + 9) * (1 - fall)"),
        ("while abs(noise) > self.slack", "while abs(noise) > 2 * self.slack"),
        ("size + noise + self.slack <= self.records", "size + noise <= self.records"),
        ("share <= rate", "share < 0"),
        ("others * divergence * (1", "2 * others * divergence * (1"),
    ),
    *_of(
        "deep/clip_quantile",
        ("math.hypot(1.0, self.weight / 2)", "math.hypot(1.0, self.weight / 4)"),
        ("torch.where(norms <= clip, 0.5, -0.5)", "torch.where(norms <= clip, 1.0, 0.0)"),
        ("torch.where(there, self.weight * clip * within, 0.0)", "(self.weight * clip * within)"),
    ),
    *_of(
        "deep/dirac_canaries",
        ("-STEEP * given.gather", "-1e-3 * given.gather"),
    ),
    *_of(
        "deep/processes",
        ("distributed.reduce(whole, dst=0)", "pass"),
        ("if other != said[0][0]:", "if False:"),
        ("_flat(noisy(_split(whole, sums)))", "_flat(noisy(noisy(_split(whole, sums))))"),
    ),
    *_of(
        "deep/fair/attribute_training",
        ("noisy_sum(sums, 2 * self.descent.clip,", "noisy_sum(sums, self.descent.clip,"),
        ("noisy_sum(exact, self._cells.radius,", "noisy_sum(exact, self._cells.radius / 2,"),
        ("noisy_sum(centred, MOVED,", "noisy_sum(centred, 0.01 * MOVED,"),
        tests=f"{FAIR}gradients_refutes_half_the_sensitivity {FAIR}histograms_and_of_dual_steps_holds_and_has_power "
        f"{FAIR}denominators_refutes_sizes_from_the_data",
    ),
    *_of(
        "deep/fair/record_training",
        ("noisy_sum(flat, clip,", "noisy_sum(flat, self.descent.clip,"),
        ("noisy_sum(exact, 0.5,", "noisy_sum(exact, 0.2,"),
        ("noisy_sum(exact, 1.0,", "noisy_sum(exact, 0.4,"),
        tests=f"{FAIR}whole_records_holds_and_has_power",
    ),
    *_of(
        "deep/fair/pf_ld",
        ("MOVED / 2, self.plan.dual_noise,", "MOVED / 4, self.plan.dual_noise,"),
        ("Repeated(self.dual_noise.event, self.epochs)", "self.dual_noise.event"),
        tests=f"deep/fair/test_fair_training.py::test_pf_ld_pays_for_every_primal_and_every_dual_step "
        f"{FAIR}histograms_and_of_dual_steps_holds_and_has_power",
    ),
    *_of(
        "deep/fair/fairness",
        ("(MOVED if delta > 0 else 2.0)", "(MOVED if delta > 0 else 0.5)"),
        ("(MOVED if delta > 0 else 2.0)", "(MOVED / 2 if delta > 0 else 2.0)"),
    ),
    *_of(
        "deep/fair/sensitive_attribute",
        ("(self.ledger.neighbors, self.ledger.unit) != (Neighbors.REPLACE, self.unit)", "False"),
        tests="deep/fair/test_fair_training.py::test_a_durable_account_of_the_attribute_pays_and_refuses",
    ),
    *_of(
        "deep/trainer",
        ("event = self.plan.event_of(count)", "event = self.plan.event_of(1)"),
        ("event if self._opened else self.plan.opened(event)", "event"),
        ("self._processes.start(self.model, agreed, self._gradients.rehearse)", "pass"),
        ("error.settle(KEPT)", "pass"),
        ("self._done = int(checkpoint", "self._done = 0 * int(checkpoint"),
        ("if self._current is not charge:", "if False:"),
        ('["done"])\n        self._current = None', '["done"])'),
        tests="deep/test_trainer.py deep/test_truncation.py deep/test_bands.py",
    ),
    # local
    *_of(
        "local/miss_chance",
        ("* Interval.of(inside) + Interval.of(outside)", "* Interval.of(inside)"),
        ("while not holds(chance):", "while False:"),
    ),
    *_of(
        "local/oracles/randomized_response",
        ("others += others >= truth", "others += others > truth"),
        ("uniform_integers(bits, len(truth), self.size - 1)", "uniform_integers(bits, len(truth), self.size)"),
        tests=f"local/test_oracle.py {REPORTS}",
    ),
    *_of(
        "local/oracles/unary_encoding",
        ("return miss_chance(self.epsilon / 2)", "return miss_chance(self.epsilon)"),
        ("return miss_chance(self.epsilon)", "return miss_chance(2 * self.epsilon)"),
        ("return 0.5", "return 0.25"),
        tests=f"local/oracles/test_unary_encoding.py {REPORTS}",
    ),
    *_of(
        "local/oracles/local_hashing",
        ("miss_chance(self.epsilon, 1, self.buckets - 1)", "miss_chance(self.epsilon, 1, 1)"),
        ('reports["shift"] - low', 'reports["shift"] + low'),
        tests=f"local/oracles/test_local_hashing.py {REPORTS}",
    ),
    *_of(
        "local/oracles/subset_selection",
        ("miss_chance(self.epsilon, self.chosen, self.size - self.chosen)", "miss_chance(self.epsilon, 1, self.size)"),
        ("miss_chance(self.epsilon, self.chosen, self.size - self.chosen)", "miss_chance(2 * self.epsilon)"),
        (" & (at != places[rows])", ""),
        tests=f"local/oracles/test_subset_selection.py {REPORTS}",
    ),
    *_of(
        "local/oracles/code_oracle",
        ("self.inside, self.codes - self.inside)", "self.codes, self.codes)"),
        tests=f"{REPORTS} local/test_oracle.py",
    ),
    *_of(
        "local/oracles/hadamard_response",
        ("(far >= block * self.order)", "(far > block * self.order)"),
        ("elsewhere = miss & (far < away)", "elsewhere = miss & (far < 0)"),
        tests=f"local/test_oracle.py {REPORTS}",
    ),
    *_of(
        "local/oracles/projective_geometry",
        ("1 + uniform_integers(bits, len(places), q - 1)", "uniform_integers(bits, len(places), q)"),
        tests=f"local/test_oracle.py {REPORTS}",
    ),
    *_of(
        "local/oracles/count_mean_sketch",
        ("return miss_chance(self.epsilon / 2)", "return miss_chance(self.epsilon)"),
        ("~bernoulli(bits, len(places), self.flip)", "~bernoulli(bits, len(places), self.flip / 4)"),
        tests=f"local/oracles/test_count_mean_sketch.py {REPORTS}",
    ),
    *_of(
        "local/oracles/hadamard_sketch",
        ("return miss_chance(self.epsilon)", "return miss_chance(1.5 * self.epsilon)"),
        tests=f"local/oracles/test_sketch.py {REPORTS}",
    ),
    *_of(
        "local/randomizer",
        ("if version != VERSION:", "if False:"),
        ("if fingerprint != self.fingerprint:", "if False:"),
        tests=REPORTS,
    ),
    *_of(
        "local/aggregator",
        ("hashlib.sha256(body).digest() != digest", "False"),
        ("if other.randomizer != self.randomizer:", "if False:"),
        ("self.tally, self.n = self.tally + new, self.n + len(accepted)", "self.tally, self.n = self.tally + new, 1"),
        tests=REPORTS,
    ),
    *_of(
        "local/reporter",
        ("(len(self._sent) + 1) * Fraction(self._each) > Fraction(self.budget)", "self.spent >= self.budget + 1"),
        ("if key not in self._sent:", "if True:"),
        ("write_whole(self._path, self._written(sent))", "pass"),
    ),
    *_of(
        "local/report_store",
        ("if before is None:", "if True:"),
        ("before[0] != digest", "False"),
        ('db.execute("DELETE FROM waiting")', "pass"),
        ('self._db.execute("ROLLBACK")', 'self._db.execute("COMMIT")'),
    ),
    *_of(
        "local/attributes/fake_data",
        ("np.where(real == number, drawn, fake)", "np.where(real == number, drawn, drawn)"),
        ("_HiddenAttribute(self.epsilon, domain", "_HiddenAttribute(1.5 * self.epsilon, domain"),
        tests=f"local/attributes/test_fake_data.py {REPORTS}",
    ),
    *_of(
        "local/attributes/sampled_attribute",
        ("BY_KIND[kind](self.epsilon, domain)", "BY_KIND[kind](len(self.domains) * self.epsilon, domain)"),
        tests=REPORTS,
    ),
    *_of(
        "local/strings/prefix_extension",
        ("return miss_chance(self.epsilon)", "return miss_chance(1.5 * self.epsilon)"),
        tests=REPORTS,
    ),
    *_of(
        "local/wire_client",
        ("chance if Decimal(chance) >= exact else math.nextafter(chance, 1.0)", "chance"),
        ("if any(drawn) and orthogonal != miss:", "if any(drawn) and orthogonal:"),
        ("if not 0 < epsilon <= MOST_EPSILON:", "if False:"),
    ),
    *_of("noise/packed_coins", ("rest.size, probability * 256 - whole)", "rest.size, 0.0)")),
    # local/rappor
    *_of(
        "local/rappor/parameters",
        ("return math.inf if kept == 0 else 2 * self.hashes", "return math.inf if kept == 0 else self.hashes"),
        ("return self.hashes * (rise + fall)", "return (rise + fall)"),
        ("return self.hashes * (rise + fall)", "return self.hashes * max(rise, fall)"),
        ("less, small = f / (2 - f), math.exp(-log_ratio)", "less, small = f, math.exp(-log_ratio)"),
    ),
    *_of(
        "local/rappor/reports_loss",
        ("return cls(np.maximum.reduceat(losses, first)", "return cls(np.minimum.reduceat(losses, first) - 0.1"),
        ("return event if times == 1 else Repeated(event, times)", "return event"),
        ("like = min(1.0, like * (1 + ROUNDING))", "like = min(1.0, like * 0.9)"),
    ),
    *_of(
        "local/rappor/permanent",
        ("tossed = bernoulli(bits, blooms.shape, setup.f)", "tossed = bernoulli(bits, blooms.shape, setup.f / 2)"),
        ("return np.where(drawn >> 1 < setup.f * LEVELS, drawn & 1, blooms)", "return blooms"),
        ("level = int(setup.f * LEVELS)", "level = int(setup.f * LEVELS) - 2"),
    ),
    *_of(
        "local/rappor/memo_file",
        ("if name not in responses:", "if True:"),
        ("if digest != _digest(body):", "if False:"),
        tests="local/rappor/test_permanent.py",
    ),
    *_of(
        "local/rappor/rappor",
        ("instantaneous(self, randomized(self, blooms, bits), bits))", "instantaneous(self, blooms, bits))"),
        ("np.where(permanents, setup.q, setup.p)", "np.where(permanents, setup.q, setup.p / 2)"),
    ),
    *_of(
        "sequential/bandits/bernoulli_curator",
        ("self._coin.chance), 0.5, unit)", "self._coin.chance / 2), 0.5, unit)"),
        ("self._coin.chance), 0.5, unit)", "self._coin.chance), unit, unit)"),
    ),
    *_of(
        "sequential/bandits/laplace_curator",
        ("self._noise.multiplier / GRID.step", "self._noise.multiplier / GRID.step / 2"),
        ("GRID.cut(self.reward_map.unit(reward))", "GRID.cut(np.asarray(reward))"),
    ),
    *_of(
        "sequential/bandits/reward_map",
        ("np.clip(np.asarray(rewards, np.float64), self.lower, self.upper)", "np.asarray(rewards, np.float64)"),
        ("return np.where(np.isnan(scaled), 0.0, scaled)", "return scaled"),
    ),
    *_of(
        "sequential/bandits/laplace_ucb",
        ("self.pulls_ <= 4 * math.log(self.rounds_ + 2)", "self.pulls_ <= 0 * math.log(self.rounds_ + 2)"),
    ),
    *_of(
        "sequential/bandits/running_sums",
        ("np.arange(unit.size) * self.arms + arms", "np.arange(unit.size) * self.arms"),
        ("Laplace(1 / float(epsilon))", "Laplace(0.5 / float(epsilon))"),
    ),
    *_of(
        "sequential/bandits/episode_sums",
        ("np.where(ends, 0, self._sums)", "self._sums"),
        ("self._noise.multiplier / GRID.step", "self._noise.multiplier / GRID.step / 2"),
    ),
    *_of(
        "sequential/counters/tree_counter",
        ("return float(levels * contributions)", "return float(contributions)"),
        ("squares += full * 4**level + rest**2", "squares += contributions"),
        ("int(horizon).bit_length()", "int(horizon).bit_length() - 1"),
        ("int(time.max()) - 1)", "0)"),
        ("tree_factor(self.levels, int(contributions), noise.norm)", "1.0"),
        ("self._reserve[count * size :]", "self._reserve"),
        ("self._drawn(len(streams), size)", "self._drawn(1, size)"),
    ),
    *_of(
        "sequential/counters/updates",
        ("self.noise.multiplier * self.factor * moved", "self.noise.multiplier * moved"),
        ("self.grid.cut(self.bound.clip(values))", "self.grid.cut(values)"),
        ("self.size, self.neighbors)", "self.size, Neighbors.ADD_REMOVE)"),
        tests="sequential/counters/test_tree_counter.py",
    ),
    *_of(
        "sequential/bandits/gram_sums",
        ("np.hstack([ROW.clip(contexts), unit[:, None]])", "np.hstack([contexts, unit[:, None]])"),
        ("* rows[:, self._upper[1]]) * self._weights", "* rows[:, self._upper[1]])"),
        ('AcuteBound("l2", 2.0 * (1 + 2.0**-30))', 'AcuteBound("l2", 1.0)'),
        ("neighbors=self.neighbors", "neighbors=Neighbors.ADD_REMOVE"),
    ),
    *_of(
        "questions/fourier",
        ("np.where(alone, 1.0, 2.0) / self.periods)", "np.where(alone, 1.0, 2.0))"),
        ("math.sqrt(self.size / self.periods) * INSIDE", "math.sqrt(self.coefficients / self.periods) * INSIDE"),
        ("np.abs(self.waves).sum(axis=0).max()", "np.abs(self.waves).sum(axis=0).mean()"),
        tests="questions/test_fourier.py conformance/test_recipes.py",
    ),
    *_of(
        "questions/spectrum_tails",
        ('Bound("linf", longest)', 'Bound("linf", longest / 2)'),
        ("sum(squares[size:])", "sum(squares[size:]) ** 2"),
    ),
    *_of(
        "sequential/series/frequencies",
        ("(1 - CHOICE) * self.budget.epsilon", "self.budget.epsilon"),
        ("Budget(FIRST * self.budget.epsilon", "Budget(self.budget.epsilon"),
        tests="sequential/series/test_fourier.py",
    ),
    *_of(
        "sequential/series/fourier",
        ("if radius is None and private.unit.pooled:", "if False:"),
        ("NORMS if radius is None else NORMS[1:]", "NORMS"),
    ),
    *_of(
        "sequential/open_stream",
        ("ledger.neighbors not in (None, stream.neighbors)", "False"),
        ("unit.rows > stream.contributions or", ""),
        ("if isinstance(reserved, Committed):", "if False:"),
    ),
    *_of(
        "sequential/bandits/linear_ucb",
        ("self.penalty = alpha + 2 * self.shift", "self.penalty = alpha"),
    ),
    *_of(
        "sequential/counters/square_root_factor",
        (
            "moved[contributions:] -= np.cumsum(self.numerators)[: self.horizon - contributions]",
            "moved = self.numerators",
        ),
        ("math.isqrt(squares) + 1", "math.isqrt(squares) // 2"),
    ),
    *_of(
        "sequential/counters/square_root_counter",
        ("self.factor.norm(int(contributions))", "self.factor.norm(1)"),
        ("exact + self._updates.drawn(self._bits, (size,))", "exact + self._updates.drawn(self._bits, (1,))"),
        ("self.admit((given.size,), (size,), self.clock)", "self.admit((given.size,), (size,), 0)"),
    ),
    *_of(
        "sequential/counters/doubling_counter",
        ("factor(j) ** power / j for j", "factor(j) ** power / contributions for j"),
        ("multiplier=terms.noise.multiplier * ratio", "multiplier=terms.noise.multiplier * 0.9"),
    ),
    *_of(
        "sequential/counters/saved_state",
        ("claimed.unlink()", "claimed.rename(path)"),
        ("counter.closed = True", "pass"),
        ("if terms != counter.terms:", "if False:"),
    ),
    *_of(
        "sequential/filters/finite_response",
        ("math.isqrt(square) + 1", "math.isqrt(square) // 2"),
        ("(contributions - lags)", "(1 - lags)"),
        ("np.where(lags == 0, 1.0, 2.0)", "np.where(lags == 0, 1.0, 1.0)"),
        ("np.maximum.accumulate(products[::-1])[::-1]", "products"),
        ("/ math.cos(math.pi * (self.length - 1) / size)", "* 0.99"),
        ("TAPS = 30", "TAPS = 36"),
    ),
    *_of(
        "sequential/filters/placement",
        ("return self.before.signal_gain()", "return self.before.event_gain(1)"),
        ("self.before.event_gain(self.contributions)", "self.before.event_gain(1)"),
        ("FiniteResponse(before), after, adjacency", "FiniteResponse(before[:, :, :1]), after, adjacency"),
        tests="sequential/filters/test_filter_stream.py",
    ),
    *_of(
        "sequential/filters/filter_stream",
        ("exact + self._updates.drawn(self._bits, exact.shape)", "exact + self._updates.drawn(self._bits, (1, 1))"),
        ("(each.sum(axis=0) if summed else each)", "(each.max(axis=0) if summed else each)"),
        ("np.clip(rows, -CAP, CAP)", "rows"),
        ("self._spent = self._spent + kept**2", "pass"),
        ("placement.gain * wider, placement.before", "placement.gain, placement.before"),
        ("given.shape, shape, self.clock)", "given.shape, shape, 0)"),
        ("self._after.restore(np.asarray(state", "np.asarray((state"),
    ),
    *_of(
        "sequential/filters/linear_filter",
        ("if not radius < STABLE:", "if radius > 2:"),
        tests="sequential/filters/test_transfer_function.py",
    ),
    *_of(
        "sequential/filters/kalman_filter",
        ("gain @ self.model.noisy(self.extra) @ gain.T", "gain @ self.model.noisy(0.0) @ gain.T"),
        tests="sequential/filters/test_kalman_stream.py",
    ),
    *_of(
        "local/means/two_point",
        ("return miss_chance(self.epsilon)", "return miss_chance(2 * self.epsilon)"),
        ("return 1 / (1 - 2 * self.lie)", "return 1 / (1 - self.lie)"),
        tests=f"local/means/test_two_point.py {REPORTS}",
    ),
    *_of(
        "local/means/piecewise",
        ("miss_chance(self.epsilon, self.window, CELLS - self.window)", "miss_chance(self.epsilon, 1, CELLS)"),
        ("outside += self.window * (outside >= starts)", "outside += 1 * (outside >= starts)"),
        tests=f"local/means/test_piecewise.py {REPORTS}",
    ),
    *_of(
        "local/means/half_sphere",
        ("return miss_chance(self.epsilon)", "return miss_chance(2 * self.epsilon)"),
        ("turned = away ^ bernoulli(bits, len(vectors), self.lie)", "turned = away"),
        tests=f"local/means/test_half_sphere.py {REPORTS}",
    ),
    *_of(
        "local/means/sphere_vector",
        ("return SphereReport(self.epsilon)", "return SphereReport(2 * self.epsilon)"),
        tests=f"local/means/test_sphere_vector.py {REPORTS}",
    ),
    *_of(
        "local/means/one_pass_sgd",
        ("LONGEST = math.sqrt(2)  #", "LONGEST = 1.0  #"),
        ("report.unbiased(report.reports(rows[batch] * slopes[:, None], bits))", "(rows[batch] * slopes[:, None])"),
    ),
    # local/subspaces
    *_of(
        "local/subspaces/gaussian_products",
        ("grown = self.radius**2 * (math.sqrt(2) +", "grown = self.radius**2 * (1.0 +"),
        ("grown * (1 + ROUNDING) + self.step * math.sqrt(half_size(self.size))", "grown * (1 - 2e-9)"),
        ("return GaussianLoss(self.multiplier)", "return GaussianLoss(2 * self.multiplier)"),
        tests=f"local/subspaces/test_gaussian_products.py {REPORTS}",
    ),
    *_of(
        "local/subspaces/sphere_products",
        ("half_size(self.size), self.radius**2)", "half_size(self.size), self.radius)"),
        ("SphereVector(self.epsilon, half_size", "SphereVector(2 * self.epsilon, half_size"),
        tests=f"local/subspaces/test_sphere_products.py {REPORTS}",
    ),
    # query: what is planned comes from public facts alone, and is charged to nobody
    *_of(
        "query/forecast/plan",
        ("known = data.public_size if", "known = data._trust.units if"),
        tests="query/forecast/test_plan.py",
    ),
    *_of(
        "query/forecast/practice",
        ("source, bits, ledger = self._source(shape)", "source, bits, ledger = getattr(self.of, '_trust')._source"),
        tests="query/forecast/test_plan.py",
    ),
]
