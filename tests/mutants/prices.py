"""Mistakes in prices of streams, in what receipts vouch for, in limits of isolated functions, in what is shown."""

from __future__ import annotations

from tests.mutants.mutant import of

PRICES = "conformance/test_streams.py"
LEDGER = "service/cli/test_ledger_command.py"
ODD = "conformance/test_hostile_parameters.py::test_every_parameter_of_a_learner_takes_any_value"

MUTANTS = [
    *of(
        "sequential/series/series_stream",
        ("return 2 * (self.memberships - shared) * each + shared * both", "return self.memberships * each"),
        ("shared = max(0, 2 * self.memberships - self.series)", "shared = self.memberships"),
        tests=f"{PRICES}::test_no_pair_of_streams_is_farther_apart_than_the_price[FAST]",
    ),
    *of(
        "sequential/series/windowed_fast",
        ("return 2 * self.each", "return self.each"),
        tests=f"{PRICES}::test_no_pair_of_streams_is_farther_apart_than_the_price[WindowedFAST]",
    ),
    *of(
        "sequential/series/w_event",
        ("self.memberships * self.neighbors.reach * self.bound", "self.memberships * self.bound"),
        tests=f"{PRICES}::test_no_pair_of_streams_is_farther_apart_than_the_price[BudgetAbsorption]",
    ),
    *of(
        "sequential/filters/filter_stream",
        ("return Change(2 * int(contributions), bound.radius)", "return Change(int(contributions), bound.radius)"),
        ("neighbors is Neighbors.REPLACE and inputs == 1:", "neighbors is Neighbors.REPLACE:"),
        tests=f"{PRICES}::test_no_pair_of_streams_is_farther_apart_than_the_price[FilterStream]",
    ),
    *of(
        "sequential/stream_account",
        ('unit.kind == "node" and unit.column is None', 'unit.kind == "node" and unit.column is not None'),
        ("return self.bits.secret", "return True"),
    ),
    *of(
        "service/cli/receipt_command",
        ("entry.secret or not receipt.secret", "True"),
        ("said.get(name) == value", "True"),
        (
            "price = (math.inf, 0.0) if entry.waiver is not None else",
            "price = (receipt.epsilon, 0.0) if entry.waiver else",
        ),
        ('[*found.beside, "replayed",', '["replayed",'),
        tests=LEDGER,
    ),
    *of("ledger/book_ledger", ('{} if self.secret else {"secret": False}', "{}"), tests=LEDGER),
    *of("trust/permit", ("return made if kept is None else made.as_stated(kept)", "return made"), tests=LEDGER),
    *of(
        "trust/isolation/fork_server",
        ("_take(line, job.seconds - used)", "pass"),
        tests="trust/isolation/test_isolated.py::"
        "test_a_block_takes_its_processor_time_whether_it_answers_fails_or_does_neither",
    ),
    *of(
        "trust/isolation/fork_server",
        ("_bring_up_to_date(child)\n    try", "try"),
        tests="trust/isolation/test_isolated.py::"
        "test_the_processor_time_of_a_block_is_known_whether_or_not_it_asks_for_it",
    ),
    *of(
        "trust/isolation/walls",
        ("1, EQUALS, 129)", "1, HAS, 128)"),
        tests="trust/isolation/test_isolated.py::test_calls_about_others_are_refused",
    ),
    *of(
        "trust/isolation/walls",
        ("TURN, NOT_FOR_CHILDREN = 10**5, 1", "TURN, NOT_FOR_CHILDREN = 10**5, 0"),
        tests="trust/isolation/test_isolated.py::"
        "test_the_server_asks_for_short_turns_and_blocks_have_those_of_everybody",
    ),
    *of(
        "service/cli/command",
        ("if self.dest in before and (isinstance(self.nargs, int) or not isinstance(values, list)):", "if False:"),
        ("[*before.get(self.dest, []), *values]", "[*values]"),
        tests=LEDGER,
    ),
    *of(
        "service/cli/saying",
        ("put(text, out.consequence, out.remedy)", "put(text)"),
        tests="service/cli/test_ask_command.py::test_an_answer_that_cannot_be_written_stays_under_its_key",
    ),
    *of(
        "service/cli/account",
        ("return secrets.token_hex(8)", "return None"),
        tests="service/cli/test_ask_command.py::test_an_answer_that_cannot_be_written_stays_under_its_key",
    ),
    *of(
        "releases/columns",
        ("plain(one) if isinstance(one, str)", "one if isinstance(one, str)"),
        tests="conformance/test_plain_text.py::test_most_statistics_answer_here",
    ),
    *of(
        "core/errors",
        ("return plain(", "return str("),
        tests="conformance/test_plain_text.py::test_receipts_ledgers_errors_and_trees_are_plain",
    ),
    *of(
        "core/checks",
        ("isinstance(value, Real) and not isinstance(value, bool)", "isinstance(value, Real)"),
        ("    except OverflowError:\n        return False", "    except ZeroDivisionError:\n        return False"),
        tests="core/test_parameters.py",
    ),
    *of(
        "core/parameters",
        ("check(asked, kinds(function), {", "str({"),
        ("return len(each) == len(inner) and all(", "return all("),
    ),
    *of(
        "fitting/private_estimator",
        ("column.check_scale(name)", "pass"),
        tests="conformance/test_hostile_parameters.py::test_no_bounds_of_a_learner_fail_after_the_charge[KernelSVC]",
    ),
    *of(
        "fitting/private_estimator",
        ("check_parameters(self.purpose, type(self).__init__, given)", "pass"),
        tests=f"{ODD}[MinMaxScaler-odd]",
    ),
    *of(
        "as_published/published_prices",
        (
            "(order * part.divergence - math.log(left)) / order",
            "(order * part.divergence - math.log(left)) / (order + 1)",
        ),
        ("math.sqrt(32 * projections", "math.sqrt(16 * projections"),
        ("batch / size), steps_of(", "1.0), steps_of("),
    ),
    *of(
        "as_published/dp_em",
        ("for degree in (1, 2) for part", "for degree in (1,) for part"),
        ("counts = np.maximum(released[0], 1.0)", "counts = np.maximum(2 * released[0], 1.0)"),
        ("step * int(self.max_iter)", "step * 1"),
    ),
    *of(
        "as_published/published_nb",
        (
            "calibrate(Laplace(), Budget(task.budget.epsilon))",
            "calibrate(Laplace(), Budget(1.5 * task.budget.epsilon))",
        ),
        ("        return 0.0", "        return super()._stddev(task, question, noise)"),
        ("math.sqrt(len(task.features)) if self", "0.1 if self"),
    ),
    *of(
        "as_published/dp_lusn",
        ("graph.permit(detection.event, name, waiver=waiver)", 'graph.permit(detection.event, name, waiver="none")'),
    ),
    *of(
        "as_published/fair_lagrangian_dual",
        ("found.move(_excess(", "found.values += 0 * abs(_excess("),
    ),
]
