"""Mistakes in fields, proofs and aggregators."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "crypto/fields/limb_field",
        ("for _ in range(4):  # what", "for _ in range(1):  # what"),
        ("if terms > TERMS:", "if terms > 64 * TERMS:"),
        ("columns[k] -= over << 2", "columns[k] -= over << 1"),
        ("(high > top) | (", "("),
        tests="crypto/fields/test_prime_field.py",
    ),
    *of(
        "crypto/prio3/proof",
        ("output, wires, gadget = verifier[:, :1]", "output, wires, gadget = 0 * verifier[:, :1]"),
        ("circuit.gadget(wires) - gadget]", "0 * gadget]"),
        tests="crypto/prio3",
    ),
    *of(
        "crypto/prio3/prio3",
        (
            "return np.asarray(verification.usable & verdict.accepted & same)",
            "return np.asarray(verification.usable & same)",
        ),
        ("return np.asarray(verification.usable & verdict.accepted & same)", "return np.asarray(verdict.accepted)"),
        tests="crypto/prio3",
    ),
    *of("crypto/prio3/shares", ("[:, :width].copy()", "[:, :width]"), tests="crypto/prio3/test_circuits.py"),
    *of(
        "crypto/prio3/chunked",
        ("if self.field.size == 8 and self.proofs < PROOFS:", "if False:"),
        ("power = field.product(power, joint)", "pass"),
        tests="crypto/prio3/test_circuits.py",
    ),
    *of(
        "crypto/prio3/circuits",
        ("total(measurement) - self._share_of_one(shares)", "0 * total(measurement)"),
        tests="crypto/prio3/test_circuits.py",
    ),
    *of(
        "trust/aggregation/aggregation_task",
        ("return share_of(self.event, 1)", "return share_of(self.event, 2)"),
        ('b"discreet aggregation 1" + self.digest', 'b"discreet aggregation 1"'),
        ("return self.share.prepared(self.blank)", "return self.blank"),
        ("np.where(inside.any(axis=1), inside.argmax(axis=1), inside.shape[1])", "inside.argmax(axis=1)"),
        tests="trust/aggregation",
    ),
    *of(
        "trust/aggregation/share_aggregator",
        ("new[place] = nonce not in self._seen", "new[place] = True"),
        ("if self.batch.accepted < self.task.least:", "if False:"),
        ("        self._pay()\n        self._shared = True", "        self._pay()"),
        ("        self._pay()\n        self._shared = True", "        self._shared = True"),
        ("agreed = np.logical_and.reduce([self._accepted, *masks])", "agreed = np.logical_and.reduce(masks)"),
        ("if self.batch.accepted != reports:", "if False:"),
        ('key=f"round {self.task.name}"', "key=None"),
        ("if not (said[self.number].verifiers == pending.verifiers).all():", "if False:"),
        tests="trust/aggregation/test_share_aggregator.py",
    ),
    *of(
        "trust/aggregation/sealed_report",
        (
            "framed(PURPOSE, task.digest, bytes([number]), nonce, public)",
            "framed(PURPOSE, task.digest, bytes([number]))",
        ),
        ("framed(PURPOSE, task.digest, bytes([number]), nonce, public)", "framed(PURPOSE, nonce, public)"),
        ("if len(keys) != task.aggregators or len(set(keys)) != len(keys):", "if False:"),
    ),
    *of(
        "trust/aggregation/aggregated",
        ("return is_shared(event)", "return True"),
        ("return float(self.aggregators)", "return 1.0"),
        ("if self.units < self.least:", "if False:"),
        tests="trust/aggregation",
    ),
]
