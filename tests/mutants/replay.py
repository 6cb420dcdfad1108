"""Mistakes that vectors built against them notice: sums, guards, raises and shared connections as they were before."""

from __future__ import annotations

from tests.mutants.mutant import of

SUMS = "deep/test_hostile_sums.py::test_"
RAISED = "accounting/test_raised_filters.py"

MUTANTS = [
    *of(
        "deep/questions/sampled_gradient",
        (
            "sums[name] + one if sums else one for name, one in fine",
            "(sums[name].float() + one.float()).double() if sums else one for name, one in fine",
        ),
        tests=f"{SUMS}ties_of_float32_add_up_to_nothing",
    ),
    *of(
        "deep/noise/fine_grid",
        ("return in_steps(sums, fine_grid(sensitivity).step)", "return in_steps(sums.bfloat16(), 2.0**-30)"),
        tests=f"{SUMS}ties_of_bfloat16_add_up_to_nothing",
    ),
    *of(
        "deep/forms/outer_products",
        ("2 * terms * unit(self.slopes) + self._rounding.cancelling**-2", "2.0**-22"),
        tests=f"{SUMS}two_places_whose_products_all_round_one_way_are_found_as_long_as_they_are",
    ),
    *of(
        "deep/forms/explicit",
        ("+ count * FLOOR", "+ 0 * count"),
        tests=f"{SUMS}inputs_whose_squares_vanish_are_not_without_length",
    ),
    *of(
        "accounting/filters/amount",
        ("self.delta + other.delta, self.slack + other.slack)", "self.delta + other.delta, 0)"),
        tests=RAISED,
    ),
    *of(
        "trust/sources/file",
        ("self._query(connection.cursor())", "self._query(connection)"),
        tests="trust/sources/test_file.py::test_four_threads_that_open_one_parquet_file_together_all_read_it",
    ),
    *of(
        "trust/curator",
        ("        return found\n\n    @property", "        return self._listing\n\n    @property"),
        tests="trust/test_forks.py::test_no_thread_is_given_the_lists_of_another",
    ),
    *of(
        "local/reporter",
        ("    @exclusive\n    def message", "    def message"),
        tests="local/test_reporter.py::test_threads_of_one_reporter_send_one_report_for_one_price",
    ),
]
