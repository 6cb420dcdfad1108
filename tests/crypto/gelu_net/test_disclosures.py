"""What is printed with every run."""

from __future__ import annotations

from discreet.crypto.gelu_net.disclosures import disclosures
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.layers import DenseLayer

DIGITS = GeluNet((DenseLayer(64, 32), DenseLayer(32, 10, "identity")))


def test_every_run_says_who_sees_what() -> None:
    for update, words in (("clear", "gradient of every batch in the clear"), ("masked", "uniform numbers")):
        told = " ".join(disclosures(DIGITS, update))  # type: ignore[arg-type]
        assert "before its activation" in told
        assert "65 questions give all of them exactly" in told
        assert "A client that trains knows the weights" in told
        assert words in told
        assert "nobody is protected from one that does not" in told
    assert "multiplies each record by itself" in " ".join(disclosures(DIGITS, "noisy"))


def test_a_limit_is_worth_what_bits_allow() -> None:
    """Layer 1: 65 weights of 15 bits in slots of 29; layer 2: 33 in slots of 32, which is fewer."""
    fewest = min(DIGITS.telling_slots(place) for place in (0, 1))
    assert fewest == -(-33 * 15 // DIGITS.packing(1, "forward").width)
    assert "not limited" in disclosures(DIGITS, None)[3]
    assert "fewer than any column of weights has" in disclosures(DIGITS, None, fewest - 1)[3]
    assert "may be known whole" in disclosures(DIGITS, None, fewest)[3]
