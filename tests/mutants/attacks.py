"""Mistakes in how the results of attacks are counted."""

from __future__ import annotations

from tests.mutants.mutant import of

RESULT = "attacks/test_attack_result.py"

MUTANTS = [
    *of(
        "attacks/attack_result",
        ("each = risk / len(SHARES)", "each = risk"),
        ("if low <= chance:", "if low <= 0:"),
        ("math.log(low * (1 - chance) / (chance * (1 - low)))", "math.log(low / chance)"),
        ("stats.beta.ppf(risk, right, trials - right + 1)", "stats.beta.ppf(risk, right + 1, trials - right)"),
        ("chance = max(scores.share, 1 - scores.share)", "chance = 0.0"),
        ("SHARES = (1.0, 0.1, 0.02)", "SHARES = (1.0,)"),
        ('"note": NOT_PRIVATE,\n        }', '"note": "",\n        }'),
    ),
    *of(
        "attacks/attack_result",
        ("MembershipScores(-scores.members, -scores.others)", "scores"),
        ('*rest.pop("warnings", ()), *told', '*rest.pop("warnings", ())'),
        tests="attacks/membership/test_threshold_attack.py",
    ),
    *of(
        "attacks/membership_scores",
        ("return surely + left * tied // among", "return surely + min(left, tied)"),
        ('np.searchsorted(wrong, false_positives, side="right") - 1', "np.searchsorted(wrong, false_positives)"),
        ("np.where(np.isnan(scores), -np.inf, scores)", "np.where(np.isnan(scores), np.inf, scores)"),
        ("np.argsort(-self.members", "np.argsort(self.members"),
        ("return _fewest(-self.others, -self.members, guesses)", "return _fewest(self.others, self.members, guesses)"),
        tests=RESULT,
    ),
    *of(
        "attacks/answers/linear_reconstruction",
        ("known.T @ (answers[~np.isnan(answers)] - known.sum(axis=1) / 2)", "known.T @ answers[~np.isnan(answers)]"),
        ("[sparse.csr_array(known), errors, -errors]", "[sparse.csr_array(known), errors, errors]"),
        ("guessed = self._estimate(asked, len(bits)) > 0.5", "guessed = bits > 0.5"),
    ),
    *of(
        "attacks/answers/differencing",
        ("query[row] = 0.0", "query[0] = 0.0"),
        ("given = given[~np.isnan(given)]", "pass"),
    ),
    *of(
        "attacks/answers/asked_queries",
        ("self.questions += len(queries)", "self.questions += 1"),
        ("answers = np.array([self._alone(query) for query in queries])", "raise"),
        tests="attacks/answers/test_linear_reconstruction.py attacks/answers/test_differencing.py",
    ),
]
