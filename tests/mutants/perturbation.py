"""Mistakes in tables without a promise: noise, projections, swaps, PRAM, groups."""

from __future__ import annotations

from tests.mutants.mutant import of

REFUSALS = "microdata/perturbation/test_refusals.py"

MUTANTS = [
    *of(
        "mechanisms/microdata/unit_noise",
        ("np.clip(drawn, -FARTHEST, FARTHEST)", "drawn * 1.05"),
        ("return REACH[law] * middle", "return 2 * middle"),
    ),
    *of(
        "mechanisms/microdata/noisy_numbers",
        ("root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T", "root: Array = vectors * values"),
        ("if len(whole) <= size:", "if len(whole) < 2:"),
        ("drawn - variance / 2)", "drawn)"),
        ("stddev / KEPT * drawn", "stddev * drawn"),
        ("np.rint(values / step) * step if step > 0 else values", "values"),
        ("values[:, place] += on_steps(noise[:, place], step)", "values[:, place] += on_steps(noise[:, 0], step)"),
    ),
    *of(
        "mechanisms/microdata/noisy_numbers",
        ("noise = np.clip(noise, -most, most)", "noise = 9 * noise"),
        tests=REFUSALS,
    ),
    *of(
        "mechanisms/microdata/projected_records",
        ("turn *= np.where(np.diag(triangle) < 0, -1.0, 1.0)", "turn *= np.where(np.diag(triangle) < 0, 1.0, 1.0)"),
        ("turn[:, :dimensions] * math.sqrt(width / dimensions)", "turn[:, :dimensions]"),
        ("shares /= np.where(lengths > 0, lengths, 1.0)", "pass"),
        ("answer.values[~np.isnan(answer.values).any(axis=1)]", "np.nan_to_num(answer.values)"),
    ),
    *of(
        "mechanisms/microdata/swapped_values",
        ("max(math.floor(window * n), 1) + 1", "math.floor(window * n) + 1"),
        ("max(math.floor(window * n), 1) + 1", "max(math.floor(window * n), 1) + 3"),
        ("(place[:-1] % 2 == 0) & (blocks[:-1] == blocks[1:])", "place[:-1] % 2 == 0"),
        ('order[np.argsort(values[order], kind="stable")]', "np.arange(n)"),
        ("first[most] = len(places)", "pass"),
        ("np.lexsort((keys, homes))", "np.argsort(homes, kind='stable')"),
        ("return keys if self.household is None else sets_of(keys, homes)", "return keys[:1].repeat(homes.max() + 1)"),
        ("alone = np.isnan(values[:, 1])", "alone = np.zeros(len(values), bool)"),
        ("spare[: surplus if surplus > 0 else total % 2]", "spare[:0]"),
        ("spare[: surplus if surplus > 0 else total % 2]", "spare[: max(surplus, 0)]"),
        ("codes_of(values[:, list(self.keys)])", "codes_of(values[:, :0])"),
        (
            "chosen = self._lonely(answer.values, homes) | bernoulli(bits, len(first), self.rate)",
            "chosen = bernoulli(bits, len(first), self.rate)",
        ),
    ),
    *of(
        "mechanisms/microdata/randomized_categories",
        ("limits / limits[:, -1:] + np.arange(size)[:, None]", "limits + np.arange(size)[:, None] / 2"),
        ('side="right"', 'side="left"', "a draw that is exactly a limit has probability 2^-40"),
        ("return np.where(missing, np.nan, found)", "return found"),
        ("matrix: Array = there @ back", "matrix: Array = there"),
        ("np.where(reached > 0, joint / np.where(reached > 0, reached, 1.0), np.eye(len(counts)))", "joint / reached"),
    ),
    *of(
        "mechanisms/microdata/microaggregation",
        ("while left.count >= 2 * k:", "while left.count >= k:"),
        ("        if left.count >= 2 * k:", "        if left.count >= k:"),
        ("self.total -= self.points[:, gone].sum(axis=1)", "pass"),
        ("(2 * point) @ self.points", "point @ self.points"),
        ("means[2 * there <= size] = np.nan", "pass"),
        ("modes[2 * table[:, size] >= table.sum(axis=1)] = np.nan", "pass"),
        ("parts.append(missing.astype(np.float64))", "pass"),
        ("(deviation if deviation > 0 else 1.0)", "1.0"),
    ),
    *of(
        "microdata/perturbation/given_columns",
        ("math.ceil(reach / column.step) * column.step", "reach"),
        ("reach = math.ceil(reach / column.step)", "reach = math.floor(reach / column.step)"),
        ("if (wider.lower, wider.upper) != (lower, upper):", "if False:"),
    ),
    *of(
        "microdata/perturbation/given_columns",
        ("if set(value) != set(columns):", "if False:"),
        ("0 <= value <= 1", "0 <= value"),
        tests=REFUSALS,
    ),
    *of(
        "microdata/perturbation/add_noise",
        ("widened(number, REACH[law] * own)", "widened(number, own / 2)"),
        ("widened(number, reach * width)", "number"),
        ("own, width * LEAST, width * LARGEST)", "own, 0.0, 1e300)"),
        ("check_plain(name, column, given.schema.number(column))", "pass"),
        ("column.upper * largest)", "column.upper)"),
        tests=REFUSALS,
    ),
    *of(
        "microdata/perturbation/noise_distribution",
        ("np.diff(near - far, axis=0) / np.diff(edges)", "np.diff(near - far, axis=0)"),
        ("found * (chances.T @ (shares / (chances @ found)))", "chances.T @ (shares / (chances @ found))"),
        ("np.maximum(share - REACH[law], 0.0))", "0.0)"),
        ("half = 0.0 if column.step is None else column.step / 2", "half = 0.0"),
    ),
    *of(
        "microdata/perturbation/projected_table",
        ("return cls(spread, 2 * spread / width)", "return cls(spread, 0.0)"),
        ("(dimensions * (width - 1) * (width + 2))", "(dimensions * width * width)"),
        ("self.spread * lengths + (self.spread - self.shrink)", "self.spread * lengths - (self.spread - self.shrink)"),
        ("- 2 * self.spread * square) / size", ") / size"),
        ("math.sqrt(relative / (1 + relative))", "math.sqrt(relative / (1 - relative))"),
        ("np.where(own, exact, found.values) + means", "np.where(own, exact, found.values)"),
        ('self.notes["records"] * np.square(apart)', "np.square(apart)"),
        ("if len(first) * len(second) > MOST_PAIRS:", "if False:"),
    ),
    *of(
        "microdata/perturbation/projections",
        ("bound = width / math.sqrt(dimensions) * (FARTHEST if", "bound = 0.1 / math.sqrt(dimensions) * (FARTHEST if"),
        ("for column in set(sums) & set(given.unchanged):", "for column in set():"),
        ('least=2, most=width if law == "orthogonal" else MOST)', "least=2, most=MOST)"),
        tests=REFUSALS,
    ),
    *of(
        "microdata/perturbation/swaps",
        ("return tuple(1 + those.index(column)", "return tuple(those.index(column)"),
    ),
    *of(
        "microdata/perturbation/pram",
        ("np.diag(counts @ matrix) - (matrix.T * counts) @ matrix", "np.diag(counts @ matrix)"),
        ("back = np.linalg.inv(given.T)", "back = np.linalg.inv(given)"),
        ("if self.invariant:", "if False:"),
        ("if not np.linalg.cond(matrix) < WORST:", "if False:"),
    ),
    *of(
        "microdata/perturbation/microaggregate",
        ("1.0 if isinstance(one, Temporal) else 0.0", "0.0"),
        ("return Number(column.lower, column.upper) if plain else column", "return column"),
    ),
]
