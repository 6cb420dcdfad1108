"""Mistakes in how parties add up: schemes of sums, and the noise that they make together."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "mechanisms/additive/binomial",
        (
            "return max(2, 2 * math.ceil(2 * (self.multiplier * self.moves) ** 2))",
            "return max(2, 2 * math.ceil((self.multiplier * self.moves) ** 2))",
        ),
        ("    if moved > moves * (1 + 2.0**-40):", "    if False:"),
        ("return 2 * -(-self.total // (2 * self.honest))", "return 2 * (self.total // (2 * self.honest))"),
        ("and loss_of(total, moves) == event:", "and True:"),
        ("beyond = float(p[-1] + chances[-moves:].sum())", "beyond = float(p[-1])"),
    ),
    *of("noise/coin_sums", ("tossed[:, -1] & last", "tossed[:, -1]"), ("out -= coins // 2", "out -= coins")),
    *of(
        "trust/schemes/masks",
        ("return quorum.threshold - quorum.colluding", "return quorum.threshold"),
        tests="trust/schemes/test_sum_scheme.py",
    ),
    *of(
        "trust/federation",
        ('**({} if self.scheme == "masks" else {"scheme": self.scheme})', '**{"scheme": self.scheme}'),
        tests="trust/schemes",
    ),
    *of(
        "crypto/odo/proceedings",
        ("return content if view == self.view else None", "return content"),
        ("self.terms.check_enough(kind, len(contents))", "pass"),
        ("if len(complaining) > self.terms.faults:", "if False:"),
        ("if not proof.of_bits:", "if False:"),
        ("if not proof.fits(answers[holder], self.coins):", "if False:"),
        ("if self._is_committed(name, seed)}", "}"),
        ('| (accused - set(self.heard["answers"]))', ""),
        tests="crypto/odo/test_odo.py crypto/odo/test_lying_relay.py",
    ),
    *of(
        "crypto/odo/odo_party",
        ("if sha256(box).digest() != header.boxes.get(self.name):", "if False:"),
        ("opened[self.name] if self.name in self._proceedings.complaints[name] else", ""),
        (
            "if self.name not in self._proceedings.good:",
            "if False:",
            "whoever is left out has lied, or is told so by the others",
        ),
        tests="crypto/odo/test_odo.py crypto/odo/test_lying_relay.py",
    ),
    *of(
        "crypto/odo/share_dealing",
        ("subtract(multiply(self.bits, self.bits), self.bits)", "multiply(self.bits, self.bits)"),
        ("np.where(flips, subtract(np.ones(1, np.uint64), coins), coins)", "coins"),
        ("uniform_elements(bits, TESTS), uniform_elements(bits", "np.zeros(TESTS, np.uint64), uniform_elements(bits"),
        ("double = Deal(terms.deal.parties, 2 * terms.faults)", "double = terms.deal"),
        tests="crypto/odo/test_odo.py crypto/odo/test_share_dealing.py",
    ),
    *of(
        "crypto/odo/public_coins",
        ("pow(index, k, PRIME) * value", "value"),
        ("framed(self._keys[0], bytes([test]))", "framed(self._keys[0])"),
        tests="crypto/odo/test_share_dealing.py",
    ),
    *of("crypto/odo/decoding", ("errors = (len(points) - degree - 1) // 2\n", "errors = 0\n")),
    *of(
        "trust/schemes/odo",
        ("return quorum.threshold - quorum.colluding", "return quorum.threshold"),
        ("and share.moves == 1", ""),
        ("np.clip(own.steps, 0, 2 ** largest.bit_length() - 1)", "own.steps"),
    ),
    *of(
        "trust/secure_sum",
        ("self.reports * noise.share(self.federation.honest).excess if self.coins else self.reports", "self.reports"),
        tests="trust/schemes/test_odo.py",
    ),
]
