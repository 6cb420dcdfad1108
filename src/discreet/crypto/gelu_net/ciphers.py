"""Which ways there are to seal linear parts."""

from __future__ import annotations

from discreet.core.errors import ParameterError
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.linear_cipher import PlainProducts, PlainSealer, SealedProducts, Sealer
from discreet.crypto.gelu_net.paillier_cipher import PaillierProducts, PaillierSealer
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import Randomness


def sealer_of(cipher: str, net: GeluNet, width: int = 2048, randomness: Randomness = "short") -> Sealer:
    """The client's end, with a fresh key.

    Parameters
    ----------
    cipher : {"paillier", "plain", "ring"}
        Public. "plain" hides nothing; "ring" is an experiment, see `discreet.crypto.gelu_net.experimental`.
    net : GeluNet
        Public.
    width, randomness
        Public. Of a key of Paillier's.
    """
    match cipher:
        case "paillier":
            return PaillierSealer(PrivateKey.drawn(width, randomness))
        case "plain":
            return PlainSealer()
        case "ring":
            from discreet.crypto.gelu_net.experimental.ring_cipher import RingSealer

            return RingSealer.drawn(net)
    raise ParameterError("cipher", f"there is no {cipher!r}", "Take 'paillier'.")


def products_of(cipher: str, opening: list[bytes], net: GeluNet, *, strict: bool) -> SealedProducts:
    """The server's end, by what the client sends when it opens a session."""
    match cipher:
        case "paillier":
            return PaillierProducts.opened(opening, strict=strict)
        case "plain":
            return PlainProducts()
        case "ring":
            from discreet.crypto.gelu_net.experimental.ring_cipher import RingProducts

            return RingProducts(net)
    raise ParameterError("cipher", f"there is no {cipher!r}", "Take 'paillier'.")
