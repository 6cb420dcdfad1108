"""Mistakes in attacks on membership: those that miss members, and those that raise false alarms."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "attacks/membership/threshold_attack",
        ("scores[order] = self.scores(asked, X, y)", "scores[:] = self.scores(asked, X, y)"),
        (
            "order = np.random.default_rng(SEED).permutation(len(inside) + len(outside))",
            "order = np.arange(len(inside) + len(outside))",
        ),
        ("rows=inside,", "rows=None,"),
    ),
    *of(
        "attacks/membership/membership_data",
        ("first.setdefault(key, row)", "first[key] = row"),
        ("text + _label(label)", "text"),
        ("float(label) if isinstance(label, int | float) else str(label)", "str(label)"),
        ("others = len(self.records[1])", "others = len(self.others_X)"),
        tests="attacks/membership/test_membership_data.py attacks/membership/test_threshold_attack.py",
    ),
    *of(
        "attacks/membership/model_target",
        ("MOST = 2**16", "MOST = 2**26"),
        tests="attacks/membership/test_threshold_attack.py",
    ),
    *of(
        "attacks/membership/model_target",
        ("given.min() >= 0 and given.max() < number", "given.min() >= 0"),
        ('raise _unnamed(number, "no whole numbers")', "return np.full(len(given), -1)"),
    ),
    *of(
        "attacks/membership/label_only",
        ("stays += target.right(X + scale * spread * rng.normal(size=X.shape), y)", "stays += target.right(X, y)"),
    ),
    *of(
        "attacks/membership/references",
        ("halves += [half[codes], ~half[codes]]", "halves += [half[codes], half[codes]]"),
        ("kinds.setdefault(key, len(kinds))", "kinds.setdefault(len(kinds), len(kinds))"),
        ("        _check_different(margins)\n", ""),
        ("fit(X[inside[place]], y[inside[place]], ", "fit(X, y, "),
        ("if absent:", "if absent > len(found):"),
    ),
    *of(
        "attacks/membership/small_networks",
        ("errors *= values.pop() > 0", "errors *= values.pop() >= 0"),
        ("errors /= np.float32(rows.shape[-2])", "errors /= np.float32(rows.shape[-1])"),
        ("own = [np.flatnonzero(mask) for mask in inside]", "own = [np.arange(len(mask)) for mask in inside]"),
    ),
    *of(
        "attacks/membership/lira",
        ("self._in.log_density(own, places) - self._out", "self._out.log_density(own, places) - self._in"),
        ("- np.log(variances) / 2)", ")"),
        ("(squares + shared * common) / (free + shared)", "squares / free"),
        ("np.where(there, margins - means, 0.0)", "np.where(there, margins - means.mean(), 0.0)"),
        ("there = seen & np.isfinite(margins)", "there = seen"),
        ("margins, ~self.references.inside, self", "margins, self.references.inside | True, self"),
    ),
    *of(
        "attacks/membership/rmia",
        ("((1 + self.a) * without.means + 1 - self.a) / 2", "((1 - self.a) * without.means + 1 + self.a) / 2"),
        ("true = found - np.diag(", "true = found + np.diag("),
        ("true @ [0.5, 0.5]", "found @ [0.5, 0.5]"),
        ("spread * float((1 / np.maximum(counts, 1)).mean())", "spread"),
        ("np.searchsorted(population, ratios / self.gamma", "np.searchsorted(population, ratios * self.gamma"),
        ("exceeded + ratios / (1 + ratios)", "exceeded + 0 * ratios"),
        ("chances[-1] / self._means(chances[:-1], inside)", "chances[-1]"),
        ("first + share * (scaled - first), first", "first, first"),
        ("if areas[:, 1].sum() > areas[:, 0].sum() else", "if False else"),
        ("HALF, LITTLE = 0.5, 1e-6", "HALF, LITTLE = 0.5, 0.0"),
        ("second * first[known].std() / second", "second / second"),
        ("without = _Side.of(chances, ~inside)", "without = _Side.of(chances, inside | True)"),
    ),
    *of(
        "attacks/membership/near_records",
        (" * (some[places] != rows[:, None])", ""),
        ("sums = weights * values", "sums = values"),
    ),
    *of(
        "attacks/membership/expected_margins",
        ("above = one.above[rows[place]] - (columns * way).sum(axis=1)", "above = one.above[rows[place]]"),
        ("return way if size > UNLIKE * max(other for _, other in usual) else 0.0", "return way"),
        ("return way if size > UNLIKE * max(other for _, other in usual) else 0.0", "return 0.0"),
        ("return bool(same.all() or not same.any())", "return bool(same.all())"),
        ("return bool(same.all() or not same.any())", "return bool(not same.any())"),
        ("for sides in (halves, [~half for half in halves])", "for sides in (halves, halves)"),
        ("hats * self.local[rows, None]", "hats"),
        ("hats * self.gaps[rows, None]", "hats"),
        ("- np.log(variances) / 2)", ")"),
        ("variance = mean + _ridge(columns[:, :hats], squares - mean, PRIOR)", "variance = np.full(hats, mean)"),
        ("np.where(known, chances * (1 - chances), 0.0)", "chances * (1 - chances)"),
    ),
    *of(
        "attacks/membership/shadow_models",
        ("self._classifier(answers[own], seen.ravel()[own])", "self._classifier(answers[own], ~seen.ravel()[own])"),
        (">= FEWEST", ">= 0"),
    ),
    *of(
        "attacks/membership/mixed_columns",
        ("signs / np.sqrt(SINGLE)", "signs"),
        ("(np.where(there, numbers, 0.0) - centre) / scale", "np.where(there, numbers, 0.0) - centre"),
        ("if {*texts} & {*known} else None", ""),
    ),
    *of(
        "attacks/membership/table_membership",
        ("return -_nearest(released", "return _nearest(released"),
        ("np.log(table) - np.log(", "np.log(table) - 0 * np.log("),
        ("counts[which].astype(np.float64)", "np.ones_like(distances)"),
    ),
    *of(
        "attacks/membership/published_means",
        ("- np.abs(rows - means)", "+ np.abs(rows - means)"),
        ("middle = np.where(self._binary, zeros,", "middle = np.where(self._binary, ones,"),
        ("-linear * (means + there) / 2", "-linear * means"),
        ("nearer.std(axis=1, ddof=1)", "nearer.std(axis=1)"),
    ),
]
