"""Whose template is where in a gallery: the list of the key's owner, with which a keeper's answers are checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import is_number
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.gallery import ASKED as GALLERY
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import TEMPLATE_SCALE
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.seal_forms import ciphertext_of
from discreet.crypto.matching.sealed_scores import ROUNDING, SealedScores

ASKED = "register"
VERSION = "discreet match register 1"
LONGEST_NAME = 200


@dataclass(frozen=True)
class Register:
    """The name and the place of each template, and a digest of each block as it was enrolled.

    The keeper of a gallery has no names. Whoever reads scores has this list, and sees by it that a keeper answered from
    all blocks, and by `confirmed` that a match is of the template that was enrolled for that name.

    Parameters
    ----------
    key : bytes
        Public. The digest of the gallery's key.
    names : tuple of str
        Of each template, in the order of their enrolment.
    blocks : tuple of int
        How many templates each block has.
    digests : tuple of bytes
        Of each block.
    """

    key: bytes
    names: tuple[str, ...] = field(repr=False, default=())
    blocks: tuple[int, ...] = ()
    digests: tuple[bytes, ...] = field(repr=False, default=())

    def enrolled(self, gallery: Gallery, names: Sequence[str]) -> Register:
        """With the names of the batch that was enrolled last."""
        self.check_new(names)
        self._check_of(gallery, len(self.names) + len(names))
        counts, digests = (tuple(getattr(one, of) for one in gallery.blocks) for of in ("templates", "digest"))
        return replace(self, names=(*self.names, *names), blocks=counts, digests=digests)

    def check_of(self, gallery: Gallery) -> None:
        """Refuse, before anything is enrolled, the list of another gallery, or of less than there is."""
        self._check_of(gallery, len(self.names))

    def _check_of(self, gallery: Gallery, names: int) -> None:
        digests = tuple(one.digest for one in gallery.blocks)
        if (gallery.key, gallery.templates) != (self.key, names) or digests[: len(self.digests)] != self.digests:
            obstacle = f"the gallery has {gallery.templates} templates for {names} names, or is another"
            remedy = "Give a name for each, and the register of this gallery; or take both as they were before."
            raise ParameterError(ASKED, obstacle, remedy)

    def check_new(self, names: Sequence[str]) -> None:
        """Refuse, before anything is enrolled, names that are empty, long, or there already."""
        if not all(isinstance(name, str) and 1 <= len(name) <= LONGEST_NAME for name in names):
            raise ParameterError(ASKED, "a name is empty or long", f"Give 1 to {LONGEST_NAME} letters.")
        if len({*self.names, *names}) < len(self.names) + len(names):
            raise ParameterError(ASKED, "a name comes twice", "Give each template a name of its own.")

    def place(self, name: str) -> int:
        """The number of a template."""
        try:
            return self.names.index(name)
        except ValueError as why:
            raise ParameterError(ASKED, "nobody of this name is enrolled", "Check the name.") from why

    def seat(self, template: int) -> tuple[int, int]:
        """In which block a template is, and in which slot of it."""
        left = template
        for place, count in enumerate(self.blocks):
            if 0 <= left < count:
                return place, left
            left -= count
        raise ParameterError(ASKED, f"there is no template {template}", f"Give 0 to {len(self.names) - 1}.")

    def check_whole(self, answer: SealedScores) -> None:
        """Refuse an answer that is not about all that was enrolled, block by block."""
        if answer.templates != self.blocks:
            obstacle = f"the answer is about {sum(answer.templates)} templates, and {len(self.names)} were enrolled"
            raise Malformed("scores", obstacle, "The keeper has another copy: give it this one.", UNOPENED)

    def confirmed(self, key: MatchingKey, template: int, block: bytes, vector: ArrayLike) -> float:
        """The score of one template, computed by the key's owner from the ciphertexts that were enrolled; rounded.

        Parameters
        ----------
        key : MatchingKey
            The secret key.
        template : int
            Public. Its number.
        block : bytes
            All ciphertexts of its block, as the keeper sends them.
        vector : array
            The template that was looked for.
        """
        place, left = self.seat(template)
        parameters = key.parameters
        if sha256(block).digest() != self.digests[place] or len(block) % parameters.width:
            raise Malformed(GALLERY, "the keeper's block is not what was enrolled", "Give it a whole copy.", UNOPENED)
        size, own = len(block) // parameters.width, np.zeros(parameters.width)
        for turn in range(parameters.width):
            sealed = ciphertext_of(parameters, block[turn * size : (turn + 1) * size], TEMPLATE_SCALE)
            own[(left + turn) % parameters.width] = key.opened(sealed)[left]
        score = parameters.score(parameters.comparable(vector) @ own)[0]
        return float(np.rint(score / ROUNDING) * ROUNDING)

    def to_bytes(self) -> bytes:
        """The form of its file, which is its owner's alone: it has names."""
        document = {
            "version": VERSION,
            "key": self.key.hex(),
            "names": list(self.names),
            "blocks": list(self.blocks),
            "digests": [one.hex() for one in self.digests],
        }
        return json.dumps(document).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Register:
        """The register in these bytes."""
        try:
            found = json.loads(data)
            names, blocks = tuple(found["names"]), tuple(found["blocks"])
            digests = tuple(bytes.fromhex(one) for one in found["digests"])
            made = cls(bytes.fromhex(found["key"]), names, blocks, digests)
            counted = all(is_number(one) and isinstance(one, int) and one > 0 for one in blocks)
            if found["version"] != VERSION or not counted or sum(blocks) != len(names) or len(digests) != len(blocks):
                raise ValueError("it does not hold together")
            cls(made.key).check_new(names)
        except (ValueError, TypeError, KeyError, RecursionError) as why:
            raise Malformed(ASKED, "it cannot be read", "Give the file that was written.", UNOPENED) from why
        return made
