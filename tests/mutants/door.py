"""Mistakes at the door: charges and receipts beside it, records without a permit, permits that pay for more."""

from __future__ import annotations

from tests.mutants.mutant import of

DOOR = "conformance/test_door.py"
STREAMS = "sequential/test_stream_account.py"
WALK = "conformance/test_streams.py"
PERMITS = "trust/test_permit.py"

MUTANTS = [
    *of(
        "trust/holder",
        ("secret=promise.secret,", "secret=True,"),
        ("        self._check_plan(plan, purpose, key)\n", ""),
        ("isinstance(charge, Committed) and (refusal", "False and (refusal"),
        ('return f"{purpose}\\n{written(plan)}" if isinstance(plan, Event) else plan.terms', "return purpose"),
        tests=STREAMS,
    ),
    *of(
        "trust/holder",
        ("            check_relation(event, promise.neighbors, purpose)\n", "            pass\n"),
        tests="trust/test_private_data.py",
    ),
    *of(
        "trust/permit",
        ('if getattr(own, "identity", None) != description.identity:', "if False:"),
        ("        self._take(self._plan)\n        self.commit", "        self.commit"),
        (".bits, self.receipt))", ".bits, None))"),
        tests=STREAMS,
    ),
    *of("trust/grant", ("        self._taken = True\n", ""), tests=WALK),
    *of("trust/holder", ('if hasattr(plan, "opened") and not self.opens:', "if False:"), tests=STREAMS),
    *of("trust/holder", ("        plan = self._own(plan)\n", ""), tests=f"{STREAMS} {WALK}"),
    *of(
        "sequential/continual_release",
        ("if not isinstance(grant, Grant):", "if False:"),
        ("        grant.take()\n", ""),
        ("return copy.deepcopy(dataclasses.replace(self))", "return self"),
        tests=WALK,
    ),
    *of("core/exact", ("return exact + noise", "return exact"), tests="sequential/counters/test_tree_counter.py"),
    *of(  # a counter that keeps what it saw beside its exact sums
        "sequential/counters/tree_counter",
        (
            "        self._clock[streams] = time\n",
            "        self._clock[streams] = time\n        self.seen = steps.copy()\n",
        ),
        tests=f"{WALK}::test_exact_sums_leave_a_stream_with_noise_alone",
    ),
    *of(
        "trust/permit",
        ("        self._check_open()\n        if self._stored", "        if self._stored"),
        (
            "        if self._stored is not None:\n            raise self._another()\n        return self._read",
            "        return self._read",
        ),
        ("        self._unspent.clear()\n        promise", "        promise"),
        ("        self._check_open()\n        self._take", "        self._take"),
        tests=f"{PERMITS} trust/test_private_data.py",
    ),
    *of(
        "trust/permit",
        *((f"    @exclusive\n    def {name}", f"    def {name}") for name in ("spend", "open", "commit")),
        tests="conformance/test_changing_classes.py",
    ),
    *of("trust/permit", ("    @exclusive\n    def records", "    def records"), tests="trust/test_forks.py"),
    *of(
        "deep/training/trainer",
        ("self._given.spend(event)", "pass"),
        ("permit is not None and not permit.pays_from(data.ledger)", "False"),
        tests="deep/training/test_trainer.py",
    ),
    *of(
        "deep/training/trainer",
        ("self._given.spend(event)", 'self._data.ledger.reserve(event, ASKED, request="")'),
        tests=DOOR,
    ),
    *of(
        "deep/fair/sensitive_attribute",
        ("    def _drawn(self", "    def codes(self) -> Codes:\n        return self._codes\n\n    def _drawn(self"),
        tests=DOOR,
    ),
    *of("deep/training/private_tensors", ("    def _chunks(\n", "    def chunks(\n"), tests=DOOR),
    *of(
        "local/means/number_report",
        (
            "device_receipt(name, self, simulated=simulated)",
            'Receipt(name, self.event, 0.0, 0.0, "", "", True, "", "")',
        ),
        tests=DOOR,
    ),
    *of("sequential/stream_account", ("if not all(hasattr(plan, name)", "if False and all(hasattr(plan, name)")),
]
