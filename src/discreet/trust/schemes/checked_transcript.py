"""A round of verified shares as somebody checks it who was not there: what was asked, what came of it, and who lied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.core.grid import Array
from discreet.crypto.errors import Disagreement
from discreet.crypto.odo.transcript import REFUSED, Transcript
from discreet.questions.named import question_of
from discreet.trust.call import Call, agreed
from discreet.trust.federation import Federation


@dataclass(frozen=True)
class CheckedTranscript:
    """What a transcript proves, to whoever believes that no more parties lied than the federation bears.

    Parameters
    ----------
    call : Call
        Public. What was asked, and with which promise.
    round : str
        Public. Its name.
    values : array
        Public. The noisy sum.
    survivors, liars : tuple of str
        Public. Whose numbers are in it, and who lied.
    reasons : mapping of str to str
        Public. How it shows that a dealing was false; a liar without a reason gave a false share of the sum.
    shown : mapping of str to array
        What parties put in, noise included, of those who showed it to whoever checks.
    """

    call: Call
    round: str
    values: Array = field(repr=False)
    survivors: tuple[str, ...]
    liars: tuple[str, ...]
    reasons: Mapping[str, str]
    shown: Mapping[str, Array] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        data: bytes,
        federation: Federation,
        packages: Iterable[str] = ("discreet",),
        openings: Mapping[str, bytes] | None = None,
    ) -> CheckedTranscript:
        """Check a transcript of a round of this federation: signatures, views, proofs, noise and total.

        Parameters
        ----------
        data : bytes
            The file.
        federation : Federation
            Public. With the right keys of all members.
        packages : iterable of str
            Public. Whose recipes are used to build the question again.
        openings : mapping of str to bytes, optional
            What parties that committed to their numbers show (`Party.keep` was given it).
        """
        transcript = Transcript.from_bytes(data)
        call = Call.read(transcript.call)
        question = question_of(call.recipe, federation.schema, packages).for_unit(federation.unit)
        empty = agreed(call, question, federation)
        if call.terms(federation, transcript.terms.round, empty) != transcript.terms:
            obstacle = "they are not those of this federation, for the question and the promise that it names"
            raise Disagreement("transcript: terms", obstacle, "Take the federation's own file.", REFUSED)
        total = transcript.verified(federation.roster)
        values = empty.grid.values(total.vector.view("int64"))
        reasons, roster = transcript.reasons(federation.roster), federation.roster
        numbers = {name: transcript.opened(roster, name, one) for name, one in (openings or {}).items()}
        shown = {name: empty.grid.values(np.array(own)) for name, own in numbers.items()}
        liars = tuple(dict.fromkeys((*total.liars, *transcript.unbound(roster))))
        return cls(call, transcript.terms.round, values, total.survivors, liars, reasons, shown)
