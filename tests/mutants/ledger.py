"""Mistakes in what an account counts and in what its ledger shows."""

from __future__ import annotations

from tests.mutants.mutant import of

AMOUNT, COVER = "accounting/filters/test_amount.py", "accounting/filters/test_gaussian_cover.py"
EVERY, SHOWN = "accounting/filters/test_every_filter.py::test_", "ledger/test_ledger_shown.py"
EVENTS = "core/test_events.py"

MUTANTS = [
    *of(
        "accounting/filters/amount",
        (" and self.slack <= cap.slack", ""),
        ("Amount(max(self.loss, loss), max(", "Amount(self.loss, max("),
        ("max(self.delta, delta), self.slack)", "self.delta, self.slack)"),
        ("if left <= 0 or rest * cap.loss >= cap.slack * left:", "if True:"),
        ("self.delta + other.delta, self.slack + other.slack)", "self.delta + other.delta, other.slack)"),
    ),
    *of("core/events", ("return any(_leaf_loses(part) for", "return all(_leaf_loses(part) for"), tests=AMOUNT),
    *of(
        "accounting/filters/pure_filter",
        ("Amount.rounded_up(ends.high, 0, ends.high * rate)", "Amount.rounded_up(ends.low, 0, ends.low * rate)"),
        ("return Amount.rounded_up(found, 0, least * rate)", "return Amount.rounded_up(found, 0, 0)"),
        ("return accountant.epsilon(event, price * rate, accuracy=ROUGH) <= price", "return True"),
        tests=f"{EVERY}a_plain_price_keeps_its_event_with_its_slack_and_the_slack_is_in_proportion",
    ),
    *of(
        "accounting/filters/pure_filter",
        ("slack_for_all(self.cap, spent)", "slack_for_all(self.cap, NOTHING)"),
        tests=f"{EVERY}after_a_raise_slack_and_loss_still_run_out_together",
    ),
    *of(
        "accounting/filters/gaussian_filter",
        ("Amount(*(max(getattr", "Amount(*(min(getattr"),
        ("slack += Fraction(dearest.slack, DELTA_UNITS)", "pass"),
        ("slack += Fraction(least) * Fraction(aside / whole)", "pass"),
        tests=f"{EVERY}parallel_parts_cost_the_dearest_loss_failure_and_slack",
    ),
    *of(
        "accounting/filters/gaussian_filter",
        ("taken += Fraction(dearest.loss, LOSS_UNITS)", "taken = Fraction(dearest.loss, LOSS_UNITS)"),
        tests=f"{EVERY}many_parallel_parts_cost_their_sum_however_small_each_is",
    ),
    *of(
        "accounting/filters/gaussian_cover",
        (
            "if likely > 2 * whole or level < SMALLEST:\n        return None",
            "if likely > 2 * whole:\n        return likely",
        ),
        tests=f"{EVERY}a_price_that_is_not_known_to_cover_is_none_so_that_a_raise_cannot_revive_it",
    ),
    *of("accounting/filters/gaussian_cover", ("np.where(losses > FARTHEST, 0.0,", "np.where(losses > FARTHEST, 1.0,")),
    *of(
        "accounting/search",
        ("if not high <= most:", "if False:"),
        tests=f"{EVERY}a_search_ends_whatever_it_is_asked_of",
    ),
    *of(
        "accounting/filters/union",
        ("failure = max([price.delta for", "failure = min([price.delta for"),
        tests=f"{EVERY}every_member_counts_the_same_failure",
    ),
    *of(
        "accounting/filters/union",
        ("one is None or one == NOTHING else", "one is None else"),
        tests=f"{EVERY}a_first_plan_that_is_in_a_cap_costs_nothing_there",
    ),
    *of("ledger/chain", ("datetime.now(UTC).date().isoformat()", "datetime.now(UTC).isoformat()"), tests=SHOWN),
    *of(
        "ledger/book_ledger",
        ("reservation.key, at=at, reservation", "reservation.key, reservation"),
        tests=SHOWN,
    ),
    *of(
        "ledger/book_ledger",
        ('copy.deepcopy(fields.get("stated"))', 'fields.get("stated")'),
        ('copy.deepcopy(fields.get("stated"))', 'copy.copy(fields.get("stated"))'),
        tests="ledger/test_memory_ledger.py",
    ),
    *of(
        "ledger/stored_ledger",
        ("smaller(account, budget, page.chain.accounts[None].budget) | more", "opened(account, budget) | more"),
        tests="ledger/test_ledger.py",
    ),
    *of(
        "ledger/stored_ledger",
        (
            """\
        def decided(page: Page) -> None:
            new = smaller(account, budget, page.chain.accounts[None].budget) | more
            if account in page.chain.accounts:
""",
            """\
        known = self.accounts
        def decided(page: Page) -> None:
            new = smaller(account, budget, page.chain.accounts[None].budget) | more
            if account in known:
""",
        ),
        tests="ledger/test_stored_ledgers.py::test_of_many_threads_that_admit_an_analyst_one_does",
    ),
    *of(
        "ledger/book",
        (
            "        if (link := self.stored.found(kind, key)) is None:",
            "        if (link := self.stored.found(kind, key)) is False:",
        ),
        ("mark.head != chain.head and not stored.holds(mark.head)", "mark.head != chain.head and False"),
        tests="ledger/test_ledger_damage.py",
    ),
    *of(
        "ledger/ledger_file",
        ("sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT}", "sqlite3.SQLITE_ERROR}"),
        ("[MOST_ROWS] * whole + [", "["),
        tests="ledger/test_ledger_damage.py ledger/test_stored_ledgers.py",
    ),
    *of("ledger/ledger_file", ('for suffix in ("", "-wal"):', 'for suffix in ("",):'), tests=SHOWN),
    *of("ledger/account_state", ("return max(granted, last.slack if last else 0)", "return 0"), tests=SHOWN),
    *of(
        "core/ledger",
        ("return max(0.0, self.budget.epsilon - self.certified)", "return self.budget.epsilon - 2 * self.certified"),
        tests="ledger/test_memory_ledger.py",
    ),
    *of("accounting/pairs/pairs", ("if total > 0 else 1.0)", "if True else 1.0)")),
    *of(
        "core/events",
        ("near = isinstance(table.first, Integral) and abs(table.first) <= FARTHEST", "near = True"),
        (
            '            _check(False, event, f"{shown(part)} is no event"',
            '            _check(True, event, f"{shown(part)} is no event"',
        ),
        ("    object.__setattr__(event, name, number)\n", ""),
        ('plain = value.item() if hasattr(value, "item") else value', "plain = value"),
        ("return plain if type(plain) in (int, bool) else number", "return plain"),
        ('        object.__setattr__(self, "infinity", _number(self.infinity))\n', ""),
    ),
    *of("accounting/renyi", ("if value > sys.float_info.max:", "if False:"), tests=EVENTS),
    *of("accounting/filters/amount", ("    except OverflowError:", "    except ZeroDivisionError:"), tests=EVENTS),
    *of("accounting/closed_forms", ("    if x > FAR:", "    if False:")),
    *of(
        "accounting/composition",
        (
            "min(max(0.0, self.origin + first * self.step - epsilon), self.step)",
            "max(0.0, self.origin + first * self.step - epsilon)",
        ),
        tests=EVENTS,
    ),
    *of(
        "graphs/synthetic_graph",
        ('    check_whole(ASKED, "max_iter", max_iter, 0, MOST_EXCHANGES)\n', ""),
        tests="graphs/test_odd_parameters.py",
    ),
]
