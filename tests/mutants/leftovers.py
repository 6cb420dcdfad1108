"""Mistakes in parameters, in rows that fall together, in tallies that are read back, and in what time shows."""

from __future__ import annotations

from tests.mutants.mutant import of

ODD = "conformance/test_odd_constructors.py"

MUTANTS = [
    *of(
        "accounting/calibration",
        ("except ParameterError:\n                continue", "except ParameterError:\n                raise"),
        ("        there = min(there, most)\n", ""),
        tests="accounting/test_calibration.py releases/test_joint_plan.py",
    ),
    *of(
        "questions/recipe",
        ("if rows.shape[1] != size:", "if False:"),
        tests="questions/test_recipe.py",
    ),
    *of(
        "questions/gradients/gradients",
        ("-math.isqrt(squared), math.isqrt(squared), out", "-2 * math.isqrt(squared), math.isqrt(squared), out"),
        ("found += z @ r.T", "found = z @ r.T"),
        tests="questions/gradients/test_gradients.py",
    ),
    *of(
        "core/parameters",
        ("        check_constructor(cls, given, named)\n        return super()", "        return super()"),
        ('if "__dataclass_fields__" in vars(kind):', "if False:"),
        ("            return isinstance(value, own)", "            return True"),
        ("return all(_has(value, name) for name in _members(protocol))", "return True"),
        tests=ODD,
    ),
    *of(
        "sequential/continual_release",
        ("class ContinualRelease(CheckedParameters, ABC)", "class ContinualRelease(ABC)"),
        tests=ODD,
    ),
    *of(
        "sequential/continual_release",
        ("        return 1\n", "        return 9\n"),
        tests="sequential/series/test_windowed_fast.py",
    ),
    *of(
        "sequential/counters/tree_counter",
        ("not ((streams >= 0) & (streams < len(self._clock))).all()", "not (streams < len(self._clock)).all()"),
        ('streams.dtype.kind not in "iu" or', "False or"),
    ),
    *of(
        "sequential/series/series_stream",
        ("max(1, moved if norm", "max(1, moved if True or norm"),
        ("self._moved(each, both) // (2 if self._apart else 1)", "self._moved(each, both)"),
        tests="sequential/series/test_fast.py",
    ),
    *of(
        "sequential/series/fast",
        ("return min(self.times, self.membership.rows(self.noise.norm, self.each, self.both))", "return self.times"),
        tests="sequential/test_stream_account.py",
    ),
    *of(
        "sequential/filters/filter_stream",
        ("return min(self.contributions, max(1, math.floor(covered)))", "return self.contributions"),
        (
            "self.placed.gain / (self.placed.before.event_gain(1) * units)",
            "self.placed.gain / self.placed.before.event_gain(1)",
        ),
    ),
    *of(
        "sequential/stream_account",
        ("unit.rows > stream.rows or", "False or"),
    ),
    *of(
        "sequential/reading",
        ("return np.where(np.isfinite(found), found, np.nan)\n", "return found\n"),
        tests="conformance/test_odd_values.py",
    ),
    *of(
        "local/aggregator",
        ("if wrong := randomizer.tally_misfit(tally, n):", "if wrong := None:"),
        ("type(about.get(name)) is not kind", "not isinstance(about.get(name), kind)"),
        ('if not 0 <= about["n"] <= MOST_REPORTS:', 'if about["n"] < 0:'),
    ),
    *of(
        "local/randomizer",
        ("sizes.sum() != n:", "False:"),
        ("(tally >= 0) & (tally <= sizes[:, None])", "(tally >= 0) & (tally <= n)"),
        tests="local/test_aggregator.py",
    ),
    *of(
        "local/oracles/subset_selection",
        (" & (at != places[rows])", ""),
        ("uniform_integers(bits, rows.size, self.size)", "uniform_integers(bits, rows.size, self.size - 1)"),
    ),
    *of(
        "local/oracles/subset_selection",
        ("whole = tally.sum() == n * self.chosen", "whole = True"),
        tests="local/test_aggregator.py",
    ),
    *of(
        "ledger/memory_book",
        ("if self._process != (os.getpid(), Forks.count):", "if False:"),
        tests="trust/test_forks.py",
    ),
    *of(
        "trust/random_stopping",
        ("for _ in range(self.trials - made):", "for _ in range(0):"),
        ("for _ in range(self.trials - made):", "for _ in range(self.trials):"),
        ("time.sleep(max(0.0, begun + self.release_after - time.monotonic()))", "pass"),
        ("math.ceil(math.log(SHOWN)", "math.floor(0.5 * math.log(SHOWN)"),
    ),
]
