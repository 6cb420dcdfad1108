"""Mistakes in what an account counts and in what its ledger shows."""

from __future__ import annotations

from tests.mutants.mutant import of

EVERY, SHOWN = "accounting/test_every_filter.py", "accounting/test_ledger_shown.py"

MUTANTS = [
    *of(
        "accounting/amount",
        (" and self.slack <= cap.slack", ""),
        ("max(self.loss, int(loses(event)))", "self.loss"),
        ("max(self.delta, int(fails(event)))", "self.delta"),
        ("if left <= 0 or rest * cap.loss >= cap.slack * left:", "if True:"),
        ("self.delta + other.delta, self.slack + other.slack)", "self.delta + other.delta, other.slack)"),
        tests=EVERY,
    ),
    *of(
        "core/events",
        (
            "return any(_leaf_loses(part) for part in walked(event))",
            "return all(_leaf_loses(part) for part in walked(event))",
        ),
        (
            "return any(table.infinity > 0 for table in (remove, add))",
            "return False",
            "a table's mass is never so small",
        ),
        tests=EVERY,
    ),
    *of(
        "accounting/pure_filter",
        (
            "return Amount.rounded_up(ends.high, 0, ends.high * rate)",
            "return Amount.rounded_up(ends.low, 0, ends.low * rate)",
        ),
        ("return Amount.rounded_up(found, 0, least * rate)", "return Amount.rounded_up(found, 0, 0)"),
        ("return accountant.epsilon(event, price * rate, accuracy=ROUGH) <= price", "return True"),
        ("slack_for_all(self.cap, spent)", "slack_for_all(self.cap, NOTHING)"),
        tests=EVERY,
    ),
    *of(
        "accounting/gaussian_filter",
        ("Amount(*(max(getattr", "Amount(*(min(getattr"),
        ("slack += Fraction(dearest.slack, DELTA_UNITS)", "pass"),
        ("taken += Fraction(dearest.loss, LOSS_UNITS)", "taken = Fraction(dearest.loss, LOSS_UNITS)"),
        ("slack += Fraction(least) * Fraction(aside / whole)", "pass"),
        tests=EVERY,
    ),
    *of(
        "accounting/gaussian_cover",
        (
            "if likely > 2 * whole or level < SMALLEST:\n        return None",
            "if likely > 2 * whole:\n        return likely",
        ),
        ("np.where(losses > FARTHEST, 0.0, near", "np.where(losses > FARTHEST, 1.0, near"),
        tests=EVERY,
    ),
    *of("accounting/search", ("if not high <= most:", "if False:"), tests=EVERY),
    *of(
        "accounting/union",
        ("failure = max((price.delta for", "failure = min((price.delta for"),
        ("price is None or price == NOTHING else", "price is None else"),
        tests=EVERY,
    ),
    *of(
        "accounting/chain",
        ('{"at": datetime.now(UTC).date().isoformat()}', '{"at": datetime.now(UTC).isoformat()}'),
        tests=SHOWN,
    ),
    *of(
        "accounting/book_ledger",
        ("reservation.key, at=at, reservation", "reservation.key, reservation"),
        ("standings = concerned(page.chain.accounts, analyst, purpose)", "standings = before"),
        tests=SHOWN,
    ),
    *of(
        "accounting/sqlite_ledger",
        (
            "new = _smaller(analyst, budget, page.chain.accounts[None].budget)",
            "new = _smaller(analyst, budget, Budget(1.0))",
        ),
        tests=SHOWN,
    ),
    *of(
        "accounting/ledger_file",
        ('            return self._connected(self.path, "ro")\n', "            raise\n"),
        ('for suffix in ("", "-wal"):', 'for suffix in ("",):'),
        tests=SHOWN,
    ),
    *of(
        "accounting/standing",
        ("amount = replace(amount, slack=max(granted, last.slack if last else 0))", "pass"),
        tests=SHOWN,
    ),
    *of(
        "core/ledger",
        ("return max(0.0, self.budget.epsilon - self.certified)", "return self.budget.epsilon - 2 * self.certified"),
        tests="accounting/test_memory_ledger.py",
    ),
]
