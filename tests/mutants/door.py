"""Mistakes at the door: charges and receipts beside it, records without a permit, permits that pay for more."""

from __future__ import annotations

from tests.mutants.mutant import of

DOOR = "conformance/test_door.py"
STREAMS = "sequential/test_stream_account.py"
WALK = "conformance/test_streams.py"
PERMITS = "trust/test_permit.py"
EACH = "trust/test_ask_each.py"

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
        ("        self._unspent.clear()\n        promise", "        promise"),
        ("        self._check_open()\n        self._take(mechanism", "        self._take(mechanism"),
        tests=f"{PERMITS} trust/test_private_data.py",
    ),
    *of(
        "trust/permit",
        *((f"    @exclusive\n    def {name}", f"    def {name}") for name in ("open", "commit")),
        tests="conformance/test_changing_classes.py",
    ),
    *of(
        "trust/permit",
        ("        self.check_pays(whole)\n", ""),
        ("        self._take(whole)\n", ""),
        ("    @exclusive\n    def ask_each(", "    def ask_each("),
        ("self._note(len(found))", "self._note(1)"),
        (
            "                self._made.add(digest, release)\n        self._note(len",
            "                pass\n        self._note(len",
        ),
        ("self._first_or_next(asked[0], lambda", "self._first_or_next(asked[-1], lambda"),
        ("if not asked or self._stored is not None or not", "if not asked or not"),
        tests=EACH,
    ),
    *of(
        "trust/curator",
        ("answers(self._view, [self._put(question) for", "answers(self._view, [question for"),
        tests=EACH,
    ),
    *of(
        "trust/wrapped_trust",
        ("[(self.inner(question), mechanism) for", "[(question, mechanism) for"),
        ('"answers_together", False)', '"answers_together", True)'),
        tests=f"{EACH} conformance/test_trust_models.py",
    ),
    *of(
        "trust/related_trust",
        ("if not (isinstance(asked, BoundedSum) and both):", "if True:"),
        tests=EACH,
    ),
    *of("trust/permit", ("    @exclusive\n    def check_pays", "    def check_pays"), tests="trust/test_forks.py"),
    *of(
        "trust/permit",
        ("        name = tuple(map(id, parts))", "        name = tuple(map(id, parts[1:]))"),
        ("        name = tuple(map(id, parts))", "        name = tuple(map(id, parts[:2]))"),
        ("        if isinstance(schema, Schema) and len(parts) == 3 and _stays(*parts[1:]):", "        if True:"),
        ("self._found[name] = parts, found", "self._found[name] = (), found"),
        ("        self._check_open()\n        self._check_unspent(event)", "        self._check_open()"),
        tests=PERMITS,
    ),
    *of(
        "deep/training/trainer",
        ("self._given.check_pays(event)", "pass"),
        ("isinstance(data, PrivateTensors) and not permit.pays_from(data.ledger)", "False"),
        ("permit is None and not isinstance(data, PrivateTensors)", "False"),
        ("if self._current != block or self._done == self._end:", "if self._current != block:"),
        ("count = min(self._block, self.plan.steps - self._done)", "count = self._block"),
        tests="deep/questions/test_sampled_gradient.py deep/training/test_trainer.py",
    ),
    *of(
        "deep/training/trainer",
        ("self._given.check_pays(event)", 'self._data.ledger.reserve(event, ASKED, request="")'),
        tests=DOOR,
    ),
    *of(
        "deep/fair/sensitive_attribute",
        (
            "    def _promise(self",
            "    def codes(self):\n        return self._curator._view.codes\n\n    def _promise(self",
        ),
        tests=DOOR,
    ),
    *of(
        "deep/training/private_tensors",
        ("if current_processes().first:", "if False:"),
        ("    def __repr__", "    def shown(self):\n        return self._curator._view.inputs\n\n    def __repr__"),
        tests=f"{DOOR} deep/questions/test_sampled_gradient.py",
    ),
    *of(
        "trust/on_sample",
        ("answer.sample != self.sample", "False"),
        tests="deep/questions/test_sampled_gradient.py",
    ),
    *of(
        "mechanisms/additive/additive_noise",
        ("if not isinstance(answer, Answer):", "if False:"),
        tests="deep/questions/test_sampled_gradient.py",
    ),
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
