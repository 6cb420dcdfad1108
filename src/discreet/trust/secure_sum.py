"""Secure sums: several parties who show their own sums to nobody, and together learn only the noisy total."""

from __future__ import annotations

import secrets
import threading
import warnings
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.held import Held, exclusive
from discreet.core.mechanism import Mechanism, Noise
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.receipt import Participants
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import UNOPENED, TooFewSurvivors
from discreet.crypto.identity import Identity
from discreet.crypto.rounds.agreement import check_roster
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.display.plain import plain
from discreet.noise.system_bits import system_bits
from discreet.questions.question import BoundedSum, Question
from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.trust.call import Call, prepared
from discreet.trust.federation import Federation
from discreet.trust.network.background import Background
from discreet.trust.network.connections import Connections
from discreet.trust.party import Party
from discreet.trust.permit import KEPT
from discreet.trust.round import InProcess, PartyChannel, Round
from discreet.trust.schemes.sum_scheme import scheme_named

Release = TypeVar("Release")


class OtherSurvivors(UserWarning):
    """A sum has other parties in it than an earlier one, so that their difference is the noisy sum of a few alone.

    Both are as private as was paid for. What is lost is that the own sums of these few are hidden among those of all.
    """

    def __init__(self, participants: Participants) -> None:
        self.participants = participants
        super().__init__(f"secure sum of {participants}; if that matters, let nobody drop out (threshold)")


class SecureSum(Held):
    """Asks parties who trust neither one another nor the server.

    Every party adds its share of the noise before it masks its sum (`crypto.masked_sum`), so the total that is opened
    is private already: among any `threshold` survivors, those that do not collude hold enough noise by themselves.
    Masks hide each party's own sum in every round by itself. Two rounds with different survivors show the noisy sum of
    the others, and `participants` and a warning say so.

    Parameters
    ----------
    federation : Federation
        Public. What all agreed on.
    identity : Identity
        The server's: whoever asks.
    parties : sequence of Party or of str
        Objects of this process, which protects nobody from whoever runs it; or addresses, `host:port`, at which
        parties listen: see `discreet party --listen`.
    listen : str, optional
        The address, `host:port`, at which parties call this server: see `discreet party --connect`. With port 0 the
        system chooses one, and `address` says which.
    patience : float
        Public. How many seconds a step of a round may take before it goes on without those who have not answered;
        longer than the slowest party needs to read its records.

    Examples
    --------
    >>> from discreet.schema.schema import Schema
    >>> tables = {"north": {"x0": [0.5] * 600}, "south": {"x0": [0.5] * 400}}
    >>> with SecureSum.rehearsal(tables, Schema.numeric(0.0, 1.0, 1), threshold=2) as trust:
    ...     trust.federation.threshold, trust.reports
    (2, 1.0)
    """

    curated = local = False

    def __init__(
        self,
        federation: Federation,
        identity: Identity,
        parties: Sequence[Party | str] = (),
        *,
        listen: str | None = None,
        patience: float = 60.0,
    ) -> None:
        check_roster(identity, federation.terms("rehearsal", 1, b""), federation.roster)
        if identity.name != federation.server.name:
            raise ParameterError("secure sum", f"{identity.name!r} is not the federation's server", "Use its identity.")
        self.federation, self.schema, self.unit = federation, federation.schema, federation.unit
        self.neighbors = federation.neighbors
        if not patience > 0:
            raise ParameterError("secure sum", f"its patience is {patience:g} s", "Give the parties some time.")
        self._identity, self._rounds, self._secret = identity, UsedRounds(), True
        self._here = {party.name: InProcess(party) for party in parties if isinstance(party, Party)}
        addresses = [one for one in parties if isinstance(one, str)]
        self._patience = patience if addresses or listen else None
        self._connections = Connections(federation, identity, addresses, self._patience or 0.0)
        self._background = Background()
        self._earlier: set[frozenset[str]] = set()
        self._last = threading.local()
        self._end = weakref.finalize(self, self._background.close, self._connections.close)
        try:
            self.address = None if listen is None else self._background.run(lambda: self._connections.open(listen))
        except BaseException:
            self.close()
            raise

    @property
    def secret(self) -> bool:
        """Whether the noise of all parties asked so far is secret, by their own account."""
        return self._secret and all(one.secret for one in self._here.values())

    @property
    @exclusive
    def units(self) -> int:
        """The number of units of all parties, which they send only where the relation makes it public."""
        present = self._present()
        if len(present) < len(self.federation.parties):
            missing = "; ".join(f"{who}: {why}" for who, why in self._missing(present).items())
            raise TooFewSurvivors("number of units", f"not all can be reached; {missing}", "Start them.", UNOPENED)
        return sum(one.units for one in present.values())

    @property
    def coins(self) -> bool:
        """Whether noise is made of coins that all parties toss together."""
        return self.federation.protocol.coins

    @property
    def reports(self) -> float:
        """By how much the variance of the noise exceeds that of a curator, if nobody drops out."""
        return len(self.federation.parties) / self.federation.honest * self.federation.protocol.excess

    @property
    def ranged(self) -> bool:
        """Whether sums have to be in a range that is known beforehand."""
        return self.federation.protocol.ranged

    def check_range(self, question: BoundedSum, noise: Noise) -> None:
        """Refuse a sum whose numbers are too large for the scheme, with this noise; nobody is asked anything."""
        if self.ranged and self.keeps(noise.event):
            self._terms(question, noise)

    def sent(self, question: BoundedSum, noise: Noise) -> int:
        """How many bytes each party would send for this question, but for keys and signatures.

        Examples
        --------
        >>> from discreet.mechanisms.additive.gaussian import Gaussian
        >>> from discreet.questions.tables.contingency import contingency_of
        >>> from discreet.schema.schema import Schema
        >>> wards = {name: np.zeros((5, 1)) for name in ("north", "east", "south", "west")}
        >>> schema = Schema.numeric(0.0, 1.0, 1)
        >>> for scheme in ("masks", "odo-vector"):
        ...     with SecureSum.rehearsal(wards, schema, threshold=3, scheme=scheme, largest=7) as trust:
        ...         trust.sent(contingency_of(schema, ("x0",), (100,)), Gaussian(4.0))
        400
        18240
        """
        return self._terms(question, noise).sent

    def _terms(self, question: BoundedSum, noise: Noise) -> Terms:
        """Those of a round with this noise, by which nobody is asked."""
        agreed, share, question = self.federation, noise.share(self.federation.honest), question.for_unit(self.unit)
        bound, nothing = question.bound.times(self.unit.rows), np.zeros(question.size, dtype=np.int64)
        empty = agreed.protocol.prepared(share, Answer(nothing, question.grid, bound, self.neighbors))
        return agreed.protocol.terms(agreed.terms("rehearsal", empty.size, b""), share, agreed.largest, empty)

    def reports_of(self, noise: Noise) -> float:
        """The same for this noise, of which each party may have to add more than its share."""
        return self.reports * noise.share(self.federation.honest).excess if self.coins else self.reports

    def keeps(self, event: Event) -> bool:
        """The promises of noise that can be shared among parties."""
        return self.federation.protocol.keeps(event)

    @exclusive
    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """The noisy sum over all parties that stay."""
        if not isinstance(question, BoundedSum) or not hasattr(mechanism, "share"):
            raise NotPermitted(
                "secure sum",
                f"{type(mechanism).__name__} cannot be shared among parties",
                "Ask a bounded sum with Laplace, Gaussian or binomial noise.",
                KEPT,
            )
        if question.recipe is None:
            raise NotPermitted(
                "secure sum",
                "the question has no recipe, and parties run no code of the asker",
                "Build it with a function that is marked as a recipe (discreet.questions.recipe).",
                KEPT,
            )
        question = question.for_unit(self.unit)
        call = Call.of(question, mechanism.share(self.federation.honest).event, self.federation)
        empty = prepared(call, question, self.federation)
        return empty.grid.values(self._total(call, empty))  # type: ignore[return-value]

    @classmethod
    def rehearsal(
        cls,
        records: Mapping[str, Any],
        schema: PlainSchema,
        *,
        threshold: int,
        colluding: int = 0,
        unit: Unit = RECORD,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        scheme: str = "masks",
        largest: int | None = None,
        packages: Iterable[str] = ("discreet",),
        bits: Bits | None = None,
    ) -> SecureSum:
        """The whole protocol in one process, to see what it does to an answer; the process sees all records.

        Parameters
        ----------
        records : mapping of str to array, data frame, path, query, Source
            Each party's records.
        schema, threshold, colluding, unit, neighbors, scheme, largest
            Public. See `Federation`.
        packages : iterable of str
            Public. Whose recipes the parties use.
        bits : Bits, optional
            Where noise and masks come from; the operating system's where not given.

        Examples
        --------
        >>> from discreet.ledger.memory_ledger import MemoryLedger
        >>> from discreet.core.budget import Budget
        >>> from discreet.schema.schema import Schema
        >>> from discreet.statistics.moments.mean import mean
        >>> from discreet.trust.private_data import PrivateData
        >>> wards = {name: np.full((2000, 1), 3.0) for name in ("north", "east", "south")}
        >>> with SecureSum.rehearsal(wards, Schema.numeric(0.0, 10.0, 1), threshold=2) as trust:
        ...     found = mean(PrivateData(trust, MemoryLedger(Budget(1.0))), "x0", epsilon=1.0)
        >>> bool(abs(found.value - 3) < 0.5)
        True
        """
        server, *drawn = (Identity.drawn(name, system_bits()) for name in ("server", *records))
        dealt = scheme_named(scheme).setup(drawn, threshold, system_bits())
        cards = tuple(PartyCertificate.of(one) for one in drawn)
        agreed = (cards, PartyCertificate.of(server), threshold, schema_of(schema), unit, neighbors)
        federation = Federation(*agreed, colluding, scheme, largest, key=dealt.key)
        tables = zip(dealt.identities, records.values(), strict=True)
        parties = [Party(one, table, federation, packages=packages, bits=bits) for one, table in tables]
        return cls(federation, server, parties)

    def close(self) -> None:
        """Hang up on everybody."""
        self._end()

    def __enter__(self) -> SecureSum:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _total(self, call: Call, empty: Answer) -> Steps:
        terms = call.terms(self.federation, secrets.token_hex(16), empty)
        round = Round(self._identity, self.federation, terms, self._rounds, self._patience)
        present = self._present()
        self._secret &= all(one.secret for one in present.values())
        round.left.update(self._missing(present))
        total = self._background.run(lambda: round.total(call, present))
        self._note_participants(frozenset(total.survivors))
        self._last.transcript = partial(round.transcript, call)
        return total.vector.view(np.int64)

    @property
    def participants(self) -> Participants | None:
        """Who was in the last sum that this thread was given."""
        return getattr(self._last, "participants", None)

    @property
    def transcript(self) -> bytes | None:
        """All that was said in public in the last round of this thread, to be checked later by others.

        See `discreet federation transcript verify`. Nothing under masks, where there is nothing to check.
        """
        written = getattr(self._last, "transcript", None)
        return None if written is None else written()

    def _note_participants(self, survivors: frozenset[str]) -> None:
        """Remember who was in a sum, and warn if earlier ones had others in them."""
        apart = tuple(sorted(frozenset().union(*(survivors ^ one for one in self._earlier))))
        known = survivors in self._earlier
        self._earlier.add(survivors)
        self._last.participants = Participants(tuple(sorted(survivors)), apart)
        if apart and not known:
            warnings.warn(OtherSurvivors(self._last.participants), stacklevel=2)

    def _present(self) -> dict[str, PartyChannel]:
        """Everybody who can be reached."""
        expected = len(self.federation.parties) - len(self._here)
        return {**self._here, **self._background.run(lambda: self._connections.gathered(expected))}

    def _missing(self, present: Mapping[str, PartyChannel]) -> dict[str, str]:
        """Why everybody else cannot be reached, as far as that is known."""
        why = dict.fromkeys(self.federation.names, "it was not met") | self._connections.absent
        return {who: reason for who, reason in why.items() if who not in present}

    def __repr__(self) -> str:
        names = plain(", ".join(self.federation.names))
        return f"SecureSum({names}; threshold {self.federation.threshold}; {self.neighbors})"
