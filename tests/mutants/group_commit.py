"""Mistakes in how charges wait together, are taken back, read, signed and copied, and in whose accounts they count."""

from __future__ import annotations

from tests.mutants.mutant import of

STORED, DATABASE = "ledger/test_stored_ledgers.py", "ledger/test_postgres_ledger.py"
PEOPLE, SIGNED, BACKUP = "ledger/test_populations.py", "ledger/test_checkpoints.py", "ledger/test_backup.py"
TURNS, LOCK = "ledger/test_turns.py", "ledger/test_file_lock.py"

MUTANTS = [
    *of(
        "ledger/turns",
        ("decision.error = _own_copy(why)", "decision.error = why"),
        ("if why is not None and not taken:", "if False:"),
        ("            if not decision.done and decision in self._waiting:", "            if False:"),
        tests=f"{TURNS} {STORED}",
    ),
    *of(
        "ledger/book",
        (
            "                page.undo()\n            raise\n        return",
            "                pass\n            raise\n        return",
        ),
        ("            if len(self.added) > before:\n                raise\n", ""),
        ("        self.chain.follow(link)\n        return link", "        return link"),
        ("if reserved is None or done is None or done.number > seen.number:", "if reserved is None or done is None:"),
        ("            if not stored.holds(seen.head):", "            if False:"),
        ("not isinstance(result, bytes) or", "result is None or"),
        ("        if told > self._anchored:\n", "        if False:\n"),
        ("            if reached.number > before.number:", "            if page.added:"),
        ("                if done.number > mark.number:", "                if False:"),
        ("                self._anchor_synced(mark)\n", "                pass\n"),
        tests=STORED,
    ),
    *of(
        "ledger/file_lock",
        ("            self._give_up(got=True)\n", "            pass\n"),
        ("            self._give_up(got=True)\n", "            self._give_up(got=False)\n"),
        ("self._given_up = got or not here", "self._given_up = False"),
        ("            meanwhile()\n", "            pass\n"),
        tests=LOCK,
    ),
    *of("ledger/ledger_file", ("meanwhile(FileEntries(db))", "pass"), tests=LOCK),
    *of("ledger/book", ("self.store.locked(self._follow_ahead)", "self.store.locked()"), tests=LOCK),
    *of("ledger/anchor", ("buffering=0) as file, held(file.fileno()):", "buffering=0) as file:"), tests=STORED),
    *of(
        "ledger/book",
        ("            self._stale = self._durable.number != self.chain.number\n", ""),
        ("            self.store.flush()\n", ""),
        ("        if self._durable.number != self.chain.number:", "        if False:"),
        tests=DATABASE,
    ),
    *of(
        "ledger/chain",
        ('{"at": max(today(), since)}', '{"at": today()}'),
        (
            "self.reserved.difference_update(link.key for link in followed if",
            "set().difference_update(link.key for link in followed if",
        ),
        (
            "self.accounts, self.dangling = dict(mark.accounts), dict(mark.dangling)",
            "self.accounts = dict(mark.accounts)",
        ),
        (
            "self.accounts, self.dangling = dict(mark.accounts), dict(mark.dangling)",
            "self.dangling = dict(mark.dangling)",
        ),
        ("            self._check_charged(fields)\n", "            pass\n"),
        tests=f"{STORED} {PEOPLE}",
    ),
    *of(
        "ledger/ledger_file",
        ("if not new and not _connected[file]:", "if not new:"),
        tests="ledger/test_ledger_sharing.py",
    ),
    *of(
        "ledger/account",
        ("if kind in kinds or (account is not None", "if (account is not None"),
        ('("project", self.project and AccountPart("project", self.project)),', ""),
        ('named = {"table": self.table, "project": self.project}', 'named = {"project": self.project}'),
        tests=PEOPLE,
    ),
    *of(
        "ledger/stored_ledger",
        ("if whole is not None and unit.kind != whole.kind:", "if False:"),
        ("            if account not in known:", "            if False:"),
        tests=PEOPLE,
    ),
    *of("ledger/stored_ledger", ("        other.signer = self.signer\n", ""), tests=SIGNED),
    *of(
        "ledger/checkpoints",
        ("        Roster({signer: public}).verify(signer, message, signature)\n", "        pass\n"),
        ("    if found.signer != signer:", "    if False:"),
        ("    if plain != (found.purpose, found.epsilon, found.delta, found.head):", "    if False:"),
        ('done.get("stated"))', "None)"),
        tests=SIGNED,
    ),
    *of(
        "ledger/backup",
        ("        if missing:", "        if False:"),
        ("            known.append(place.anchor.read().head)\n", "            pass\n"),
        ("                copy.keep(digest, data)\n", "                pass\n"),
        ("        found = Book(source).verify()\n", "        found = Verified(1, 0, '')\n"),
        tests=BACKUP,
    ),
    *of(
        "ledger/postgres_store",
        ("            db.execute(f\"select pg_advisory_xact_lock({CHAIN}, 'entry'::regclass::oid::integer)\")\n", ""),
        ("            entries.write()\n", ""),
        tests=f"{STORED} {DATABASE}",
    ),
    *of(
        "accounting/filters/gaussian_filter",
        ("return -(-self.count * units >> self.power)", "return self.count * units >> self.power"),
        (
            "-(-parts[0].times * under * under * LOSS_UNITS // (over * over))",
            "parts[0].times * under * under * LOSS_UNITS // (over * over)",
        ),
        (
            "less(_left(before, epsilon, times)).more(abs(before) * SLACK)",
            "less(_left(before, epsilon, times))",
        ),
        ("minus(taken).nearest, -math.inf)", "nearest, -math.inf)"),
    ),
]
