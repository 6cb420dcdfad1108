"""Mistakes in attacks on tables, answers, models and pictures."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "attacks/table_columns",
        ("codes[np.isnan(both)] = UNKNOWN", "pass"),
        ("UNKNOWN, rows * size + own)", "UNKNOWN, rows + own)"),
        ("if len({table.is_number(name) for table in (self, *others)}) > 1:", "if False:"),
    ),
    *of(
        "attacks/control_rate",
        ("stats.beta.ppf(1 - RISK, right + 1, trials - right)", "right / trials"),
        tests="attacks/linkage/test_singling_out.py attacks/inference/test_attribute_inference.py"
        " attacks/test_attacked_attacks.py ../src/discreet/attacks/control_rate.py",
    ),
    *of(
        "attacks/linkage/quasi_identifiers",
        ("alone = (last - first == 1) & (people >= 0)", "alone = (last > first) & (people >= 0)"),
        ("alone = (last - first == 1) & (people >= 0)", "alone = last - first == 1"),
    ),
    *of(
        "attacks/linkage/linked_people",
        ("if len(found) != people or found.max() >= rows:", "if len(found) != people:"),
        tests="attacks/linkage/test_quasi_identifiers.py",
    ),
    *of(
        "attacks/linkage/fellegi_sunter",
        ("np.where(chance > self.threshold, answers, NOBODY)", "answers"),
        ("sizes * (1 - share) + share * sums", "sizes * (1 - share) + share * best"),
        ("better = top[ratios[top] > best[people[top]]]", "better = top"),
        ("np.where(apart <= tolerance, ALIKE, DIFFERENT)", "np.where(apart <= 0, ALIKE, DIFFERENT)"),
    ),
    *of(
        "attacks/linkage/agreement_weights",
        ("counts - match, alike, seen)", "match, alike, seen)"),
        ("rate * ratios + 1 - rate", "ratios + 1"),
        tests="attacks/linkage/test_fellegi_sunter.py",
    ),
    *of(
        "attacks/linkage/singling_out",
        ("original, control = evenly_spaced(ASKED, original, control)", "pass"),
        ("return int(rows[0]) if len(rows) == 1 else None", "return int(rows[0]) if len(rows) else None"),
        ("control_rate(elsewhere, count)", "0.0"),
    ),
    *of(
        "attacks/linkage/linkability",
        ("total += np.where(np.isnan(apart), 1.0, apart)", "total = np.where(np.isnan(apart), 1.0, apart)"),
        ("control_rate(int(elsewhere.sum()), len(elsewhere))", "0.0"),
        ("LITTLE * rng.random(", "0 * rng.random("),
    ),
    *of(
        "attacks/answers/averaging",
        ("members - halves", "1 - halves"),
        ("law.pmf(ones).max()", "0"),
        ("total / answered if answered else np.nan", "total"),
    ),
    *of(
        "attacks/answers/covered_values",
        ("(known <= high) if found[3] ==", "(known < high) if found[3] =="),
        ('if ", ..., " in inside:', "if False:"),
    ),
    *of(
        "attacks/answers/intersection",
        ("both = np.multiply.reduce(shares)", "both = np.add.reduce(shares)"),
        ("found[~found.any(axis=1)] = 1.0", "pass"),
    ),
    *of(
        "attacks/answers/count_reconstruction",
        ("known = np.isfinite(found.ravel())", "known = np.isfinite(found.ravel()) | True"),
        ("matrix = sparse.hstack([sums, errors, -errors]", "matrix = sparse.hstack([sums, errors, errors]"),
        ("rebuilt = np.minimum(found, true)", "rebuilt = np.minimum(true, true)"),
        ("control_rate(int(guessed.sum()), len(rows))", "0.0"),
    ),
    *of(
        "attacks/perturbed/found_values",
        ("own + 2 * reach", "own + reach"),
    ),
    *of(
        "attacks/perturbed/known_samples",
        ("np.asarray(mean + (others - centre) @ back)", "np.asarray((others - centre) @ back)"),
        ("np.setdiff1d(np.arange(len(original)), known)", "np.arange(len(original))"),
    ),
    *of(
        "attacks/perturbed/additive_noise",
        ("np.sqrt(scaled.shape[1] / len(scaled))) ** 2", "np.sqrt(scaled.shape[1] / len(scaled))) * 0"),
        ("own = np.maximum(sizes - 1, 0.0)", "own = np.maximum(sizes, 0.0)"),
        ("(scaled @ kept @ kept.T) * unit", "(scaled @ kept @ kept.T)"),
    ),
    *of(
        "attacks/perturbed/swaps_undone",
        ("float(stayed.mean())", "0.0"),
        ("found[np.concatenate(leaving)] = coming", "pass"),
        ("names_of(self.keys))[first]", "())[first]"),
    ),
    *of(
        "attacks/inference/attribute_inference",
        ("return found[found == found]", "return found"),
        ("np.argsort(-leads", "np.argsort(leads"),
        ("& (first > second))", ")"),
        ("if value is not None and value == value", "if value is not None"),
        ("LEAST))) + np.log(counts / counts.sum())", "LEAST)))"),
        ("max(control_rate(int(elsewhere.sum()), len(elsewhere)), frequent)", "frequent"),
        ("margins = margins - np.mean(", "margins = margins - 0 * np.mean("),
    ),
    *of(
        "attacks/inference/model_inversion",
        ("module.train(training)", "pass"),
        ("(above - below) / (2 * small)", "(above - below) / small"),
        ("(alike.argmax(axis=1) == np.arange(len(own))) & (own > 0)", "alike.argmax(axis=1) >= 0"),
    ),
    *of(
        "attacks/inference/gradient_inversion",
        ("unit = int(np.abs(np.nan_to_num(bias)).argmax())", "unit = int(np.abs(np.nan_to_num(bias)).argmin())"),
        ("label = sent[-1].argmin().reshape(1)", "label = sent[-1].argmax().reshape(1)"),
        ("errors = np.nan_to_num(", "errors = 0 * np.nan_to_num("),
        ("float(lucky.mean())", "0.0"),
    ),
    *of(
        "attacks/images/obfuscations",
        ("rows[:, None] * (columns[-1] + 1) + columns", "rows[:, None] * columns[-1] + columns"),
        ("waves[:, :, 0, :, 0] = 0.0", "pass"),
    ),
    *of(
        "attacks/images/recognised_pictures",
        ("found = self._recognised(known, labels, hidden)", "found = self._recognised(clear, labels, hidden)"),
        ("float(counts.max() / len(truth))", "0.0"),
    ),
    *of(
        "attacks/mixtures/single_records",
        ("right = alone & (apart <= self.tolerance)", "right = alone"),
        ("control_rate(int(elsewhere.sum()), len(elsewhere))", "0.0"),
        ("np.asarray(tree.tree_.n_node_samples[leaves] == 1)", "np.asarray(tree.tree_.n_node_samples[leaves] >= 1)"),
    ),
]
