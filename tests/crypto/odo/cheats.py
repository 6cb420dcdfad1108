"""Parties that lie, each in one way; found by walking this file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np

from discreet.core.grid import Steps
from discreet.crypto.messages import Signed, framed, labelled, listed, split
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.share_dealing import ShareDealing, share
from discreet.crypto.rounds.speaker import Vector

Fate = Literal["counts", "refuted", "false sum", "silent"]


class Cheat(OdoParty):
    """A party that lies. `fate` is what becomes of it: its dealing counts, or it is named, or it is missing."""

    fate: ClassVar[Fate] = "refuted"

    def changed(self, dealing: ShareDealing, place: int | slice, more: object) -> ShareDealing:
        """The dealing with something added to the shares in one place."""
        rows, modulo = dealing.rows.copy(), self.terms.field
        rows[:, place] = modulo.add(rows[:, place], modulo.elements(more))
        return dataclasses.replace(dealing, rows=rows)


class WrongShare(Cheat):
    """Gives one party a wrong share, and opens the true one when that party complains."""

    fate: ClassVar[Fate] = "counts"
    many: ClassVar[int] = 1

    def _sealed(self, announced: object, dealing: ShareDealing, name: str) -> bytes:
        if name in self._victims[: self.many]:
            dealing = self.changed(dealing, 0, 1)
        return super()._sealed(announced, dealing, name)  # type: ignore[arg-type]

    @property
    def _victims(self) -> list[str]:
        return [name for name in self.terms.parties if name != self.name]


class WrongToAll(WrongShare):
    """Gives all others wrong shares, and opens the true ones."""

    fate: ClassVar[Fate] = "refuted"
    many: ClassVar[int] = 99


class WrongShareKept(WrongShare):
    """Gives one party a wrong share, and opens nothing."""

    fate: ClassVar[Fate] = "refuted"

    def _defend(self, body: bytes) -> Signed:
        self._hear("complaints", body)
        return self._signed("answers", self._proceedings.said(labelled({})))


class AnswersOne(WrongShare):
    """Gives two parties wrong shares, and opens the true one of the first alone."""

    fate: ClassVar[Fate] = "refuted"
    many: ClassVar[int] = 2

    def _defend(self, body: bytes) -> Signed:
        self._hear("complaints", body)
        first = self._victims[0]
        held = self._own.held(self.terms.index(first))
        return self._signed("answers", self._proceedings.said(labelled({first: held.to_bytes()})))


class WrongShareAgain(WrongShare):
    """Gives one party a wrong share, and opens the wrong one."""

    fate: ClassVar[Fate] = "refuted"

    def _defend(self, body: bytes) -> Signed:
        self._hear("complaints", body)
        held = self._own.held(self.terms.index(self._victims[0]))
        modulo = self.terms.field
        wrong = dataclasses.replace(held, values=modulo.add(held.values, modulo.elements(1)))
        return self._signed("answers", self._proceedings.said(labelled({self._victims[0]: wrong.to_bytes()})))


class HighDegree(Cheat):
    """Shares a number by a polynomial of one degree too many."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        points = range(1, len(self.terms.parties) + 1)
        return self.changed(super()._dealt(numbers), 0, [point ** (self.terms.faults + 1) for point in points])


class NotABit(Cheat):
    """Puts 1000 where a bit should be."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        return self.changed(super()._dealt(numbers), 0, 1000)


class OutOfRange(Cheat):
    """Counts the last place of a number twice, so that it is above the most that it may be."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        last = self.terms.size * (self.terms.width - 1)
        return self.changed(super()._dealt(np.full_like(numbers, self.terms.largest)), last, 1)


class Negative(Cheat):
    """Takes one off a number that is nothing, so that it is below the least that it may be."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        return self.changed(super()._dealt(np.zeros_like(numbers)), 0, -1)


class HalfACoin(Cheat):
    """Puts a number that is no bit in the place of its last coin."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        return self.changed(super()._dealt(numbers), self.terms.secrets - 1, (self.terms.field.prime + 1) // 2)


class MaskNotZero(Cheat):
    """Puts 1000 where a bit should be, and a mask that is not zero at zero, in the hope that they cancel."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing, tests = self.changed(super()._dealt(numbers), 0, 1000), self.terms.field.tests
        place = self.terms.secrets + tests
        return self.changed(dealing, slice(place, place + tests), -999_000)


class AllHeads(Cheat):
    """Tosses no coin: all are heads. Public coins turn half of them over."""

    fate: ClassVar[Fate] = "counts"

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing, start, end = super()._dealt(numbers), self.terms.size * self.terms.width, self.terms.secrets
        ones = np.ones(end - start, self.terms.field.dtype)
        share(self._bits, self.terms.field, ones, self.terms.faults, dealing.rows[:, start:end])
        return dealing


class OtherSeed(Cheat):
    """Commits to one seed and shares another."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing = super()._dealt(numbers)
        modulo = self.terms.field
        return dataclasses.replace(dealing, seed=modulo.add(dealing.seed, modulo.elements(1)))


class Copier(Cheat):
    """Repeats, in its own name, what another has dealt, as far as it can see it: boxes sealed by somebody else."""

    def _sealed(self, announced: object, dealing: ShareDealing, name: str) -> bytes:
        return bytes(len(super()._sealed(announced, dealing, name)))  # type: ignore[arg-type]


class Accuser(Cheat):
    """Complains about everybody."""

    fate: ClassVar[Fate] = "counts"

    def _complain(self, body: bytes) -> Signed:
        self._hear("proof", body)
        return self._signed("complaints", self._proceedings.said(listed(self._proceedings.headers)))


class FalseSeeds(Cheat):
    """Opens false shares of all seeds."""

    fate: ClassVar[Fate] = "counts"

    def _open_seeds(self, body: bytes) -> Signed:
        self._hear("dealt", body)
        junk = {name: bytes(self.terms.field.size * self.terms.sealed_seeds) for name in self._proceedings.headers}
        return self._signed("seeds", self._proceedings.said(labelled(junk)))


class FalseSum(Cheat):
    """Gives a false share of the sum."""

    fate: ClassVar[Fate] = "false sum"

    def _added(self) -> Signed:
        view, content = split(super()._added().message.body, 2)
        modulo = self.terms.field
        values = np.frombuffer(content, modulo.dtype)
        return self._signed("sum", framed(view, modulo.add(values, modulo.elements(1)).tobytes()))


class Garbage(Cheat):
    """Proves with bytes that are no proof."""

    def _prove(self, body: bytes) -> Signed:
        self._hear("seeds", body)
        return self._signed("proof", self._proceedings.said(b"\xff" * 77))


class OtherView(Cheat):
    """Says that it has seen something else: so it has said nothing, and is missing."""

    fate: ClassVar[Fate] = "silent"

    def _prove(self, body: bytes) -> Signed:
        self._hear("seeds", body)
        proof = self._own.proof(self._proceedings.coins)
        return self._signed("proof", framed(bytes(32), proof.to_bytes()))


class Leaver(Cheat):
    """Is gone from the step `leaves` on."""

    fate: ClassVar[Fate] = "silent"
    leaves: str = "sum"

    def answer(self, heard: Signed, vector: Callable[[], Vector]) -> Signed:
        answer = super().answer(heard, vector)
        if answer.message.kind == self.leaves:
            raise ConnectionError("gone")
        return answer


CHEATS = [kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, Cheat)]
CHEATS = [kind for kind in CHEATS if kind not in (Cheat, Leaver)]
