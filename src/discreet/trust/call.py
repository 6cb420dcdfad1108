"""What a server asks of all parties in one round: a recipe, and the noise that is paid for."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from discreet.core.answer import Answer
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.events import Event, read, written
from discreet.core.mechanism import Share
from discreet.crypto.errors import UNOPENED, Disagreement
from discreet.crypto.messages import framed
from discreet.crypto.rounds.terms import Terms
from discreet.mechanisms.additive.share_of import share_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.trust.federation import Federation

VERSION = 3  # raised with every change in what a recipe adds up, on which grid noise is drawn, or how messages are read
LONGEST = 500  # letters of what an asker built, as they are quoted


@dataclass(frozen=True)
class Call:
    """A question that is put to every party of a federation.

    Parameters
    ----------
    recipe : Recipe
        Public. From which each party builds the question itself.
    event : Event
        Public. What is promised to every unit of every party, by noise that they share.
    built : str
        Public. What the asker built from the recipe; see `built`. A party that builds something else takes no part.

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss
    >>> call = Call(Recipe("count", {"column": "age"}), LaplaceLoss(2.0))
    >>> Call.read(call.written()) == call
    True
    """

    recipe: Recipe
    event: Event
    built: str = ""

    @classmethod
    def of(cls, question: BoundedSum, event: Event, federation: Federation) -> Call:
        """The call of a question that was built here, from a recipe."""
        assert question.recipe is not None
        call = cls(question.recipe, event)
        empty = prepared(call, question, federation)
        return dataclasses.replace(call, built=built(question, empty) + call.form(federation, empty))

    def written(self) -> bytes:
        """The form in which it travels; equal calls are written alike."""
        parts = [self.recipe.written(), written(self.event), self.built]
        return json.dumps(parts, separators=(",", ":")).encode()

    @classmethod
    def read(cls, data: bytes) -> Call:
        """The call that was written; anything else is refused."""
        try:
            recipe, event, built = json.loads(data)
            if not isinstance(built, str):
                raise ValueError("what was built is no text")
            promised = read(event)
            share_of(promised, 1)
            return cls(Recipe.read(recipe), promised, built)
        except (ValueError, TypeError, ArithmeticError, RecursionError) as why:
            raise ParameterError("read a call", f"it is not one ({why})", "Send what `written` gives.") from why

    def about(self, federation: Federation) -> bytes:
        """The call and what the federation agreed on, in 32 bytes: every key of the round hangs on it.

        So parties that were sent different questions, or noise, have no key in common.
        """
        return sha256(framed(federation.digest, self.written())).digest()

    def terms(self, federation: Federation, round: str, empty: Answer) -> Terms:
        """The terms of a round in which this call is answered by vectors such as the empty sum."""
        terms = federation.terms(round, empty.size, self.about(federation))
        return federation.protocol.terms(terms, self.share(federation.honest), federation.largest, empty)

    def form(self, federation: Federation, empty: Answer) -> str:
        """How numbers are sent in such a round, in words, where its scheme sends them in several ways."""
        return str(getattr(self.terms(federation, "form", empty), "form", ""))

    def share(self, honest: int) -> Share:
        """What each party adds, so that this number of honest ones keep the promise."""
        return share_of(self.event, honest)


def prepared(call: Call, question: BoundedSum, federation: Federation) -> Answer:
    """An empty sum on the grid that all parties draw their noise on; an error if that noise could keep no promise."""
    if unknown := [name for name in question.columns if name not in federation.schema.columns]:
        known = f"There are {', '.join(federation.schema.columns)}."
        raise SchemaError(f"column {unknown[0]!r}", "the federation's schema has none", known)
    nothing = np.zeros(question.size, dtype=np.int64)
    bound = question.bound.times(federation.unit.rows)
    share = call.share(federation.honest)
    empty = federation.protocol.prepared(share, Answer(nothing, question.grid, bound, federation.neighbors))
    share.own_scale(empty)
    federation.protocol.check_sum(empty)
    return empty


def built(question: BoundedSum, empty: Answer) -> str:
    """What was built from a recipe, in one line: all that must be alike everywhere for sums to add up."""
    bound = question.bound
    return (
        f"version {VERSION}: {empty.size} numbers of {json.dumps(question.columns)}, {bound.norm} "
        f"{type(bound).__name__} {bound.radius!r}{' nonnegative' if bound.nonnegative else ''}, "
        f"steps of 2**{question.grid.exponent}, noise on steps of 2**{empty.grid.exponent}"
    )


def agreed(call: Call, question: BoundedSum, federation: Federation) -> Answer:
    """The empty sum, if the asker has built the same question as was built here; else nobody here takes part."""
    empty = prepared(call, question, federation)
    own = built(question, empty) + call.form(federation, empty)
    if call.built != own:
        raise Disagreement(
            f"recipe {call.recipe.name}",
            f"here it builds {own}; the asker has {call.built[:LONGEST] or 'not said what'}",
            "Use the same version everywhere.",
            UNOPENED,
        )
    return empty
