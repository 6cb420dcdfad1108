"""Compares an encrypted query with an encrypted gallery: what its keeper computes, who reads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from discreet.core.checks import check_whole
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.evaluation_keys import EvaluationKeys
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import TEMPLATE_SCALE
from discreet.crypto.matching.query_checks import direction_products
from discreet.crypto.matching.seal_forms import ciphertext_bytes, ciphertext_of
from discreet.crypto.matching.seal_stream import Seal, seal
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.matching.sealed_scores import SealedScores

ALL = 1 << 20
POLYNOMIALS = 2  # of a ciphertext that is no product
REFUSED = (RuntimeError, ValueError)
"""What SEAL raises where the result of a computation would not be encrypted."""


class Matcher(Held):
    """Answers queries about a gallery. Of its blocks some stay in memory, in the form that SEAL multiplies.

    Parameters
    ----------
    gallery : Gallery
        Encrypted templates.
    keys : EvaluationKeys
        Public. Those that the gallery is under.
    resident : int
        Public. How many blocks are kept in memory: 128 kB for each of the `width` ciphertexts of a block. All, where
        not given.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from discreet.crypto.matching.match_parameters import MatchParameters
    >>> from discreet.crypto.matching.matching_key import MatchingKey
    >>> key = MatchingKey.drawn(MatchParameters(4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gallery = Gallery.created(folder + "/faces", key.parameters, key.keys.digest)
    ...     gallery = gallery.enrolled(np.eye(4), key)
    ...     query = SealedQuery.by_owner([0.0, 3.0, 0.1, 0.0], key)
    ...     answer = Matcher(gallery, key.keys).answer(query)
    >>> answer.opened(key).found(threshold=0.9)
    [1]
    """

    def __init__(self, gallery: Gallery, keys: EvaluationKeys, resident: int = ALL) -> None:
        check_whole("matching", "resident", resident, 0)
        if gallery.key != keys.digest or gallery.parameters != keys.parameters:
            raise Malformed("gallery", "it is under another key", "Give its own keys.", UNOPENED)
        self.gallery, self.keys = gallery, keys
        self._resident = int(resident)
        self._blocks: dict[int, list[Seal]] = {}

    @exclusive
    def answer(self, query: SealedQuery, template: int | None = None) -> SealedScores:
        """The scores of all templates, encrypted; or of the block of one template, where it alone is asked for.

        Products of three polynomials are added up as they are, and brought back to two once, for the answer.
        """
        if query.key != self.keys.digest:
            raise Malformed("query", "it is under another key", "Make it with the keys of the gallery.", UNOPENED)
        if not self.gallery.blocks:
            raise Malformed("gallery", "it has no templates", "Enrol some.", UNOPENED)
        places = range(len(self.gallery.blocks)) if template is None else [self.gallery.place(template)[0]]
        with _sealed():
            turned = self._turned(query.ciphertext)
            bodies = tuple(self._finished(self._products(self._block(place), turned)) for place in places)
            checks = b"" if query.stamp.owned else self._checks(turned)
        counts = tuple(self.gallery.blocks[place].templates for place in places)
        return SealedScores(query.stamp, counts, bodies, checks)

    @exclusive
    def load(self) -> None:
        """Bring the blocks into memory that stay there, before the first query."""
        for place in range(min(self._resident, len(self.gallery.blocks))):
            self._block(place)

    def _turned(self, query: Seal) -> Sequence[Seal]:
        """The query, rotated by each number of slots below the width: one rotation for each, by powers of two."""
        turned = [query]
        for turn in range(1, self.keys.parameters.width):
            lowest = turn & -turn
            turned.append(self._rotated(turned[turn - lowest], lowest))
        return turned

    def _rotated(self, one: Seal, steps: int) -> Seal:
        evaluator, found = self.keys.parameters.engine.evaluator, seal().Ciphertext()
        rotate = evaluator.rotate_vector if self.keys.parameters.scheme == "ckks" else evaluator.rotate_rows
        rotate(one, steps, self.keys.rotating, found)
        return found

    def _checks(self, turned: Sequence[Seal]) -> bytes:
        """Whether a stranger's query is a template: its squares, random products, and how far it repeats itself."""
        evaluator, apart = self.keys.parameters.engine.evaluator, seal().Ciphertext()
        evaluator.sub(turned[0], self._rotated(turned[0], self.keys.parameters.width), apart)
        squares, products = self._products(turned, turned), direction_products(self.keys.parameters, turned)
        parts = self._finished(squares), self._finished(products), ciphertext_bytes(self.keys.parameters.engine, apart)
        return b"".join(parts)

    def _products(self, ones: Sequence[Seal], others: Sequence[Seal]) -> Seal:
        """The sum of the products, of three polynomials."""
        evaluator = self.keys.parameters.engine.evaluator
        total, product = seal().Ciphertext(), seal().Ciphertext()
        evaluator.multiply(ones[0], others[0], total)
        for one, other in zip(ones[1:], others[1:], strict=True):
            evaluator.multiply(one, other, product)
            evaluator.add_inplace(total, product)
        return total

    def _finished(self, total: Seal) -> bytes:
        """Brought back to two polynomials, and to one prime."""
        parameters = self.keys.parameters
        evaluator = parameters.engine.evaluator
        if total.size() > POLYNOMIALS:
            evaluator.relinearize_inplace(total, self.keys.relinearising)
        if parameters.scheme == "ckks":
            evaluator.rescale_to_next_inplace(total)
        else:
            evaluator.mod_switch_to_next_inplace(total)
        return ciphertext_bytes(parameters.engine, total)

    def _block(self, place: int) -> list[Seal]:
        if place in self._blocks:
            return self._blocks[place]
        parameters = self.gallery.parameters
        found = [ciphertext_of(parameters, one, TEMPLATE_SCALE) for one in self.gallery.block(place)]
        if len(self._blocks) < self._resident:
            self._blocks[place] = found
        return found


@contextmanager
def _sealed() -> Iterator[None]:
    """Refuse what SEAL does not compute: a query that was made so that the result would be open."""
    try:
        yield
    except REFUSED as why:
        if isinstance(why, Malformed):
            raise
        raise Malformed("query", "it cannot be computed with", "Make it with the gallery's keys.", UNOPENED) from why
