"""Seven clinics count together; two of them lie. The count is right all the same, and both are named.

Each clinic deals out shares of its counts and of its coins, and proves that all of them are bits. One clinic claims a
thousand patients in a place for one bit; another gives a false share of the sum in the end. Neither the relay nor any
two clinics together learn more than the noisy count.

Run: python examples/liars.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Signed, framed, split
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_relay import OdoRelay
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.share_dealing import ShareDealing
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.binomial import Binomial
from discreet.noise.system_bits import system_bits

CLINICS = ("ash", "birch", "cedar", "elm", "fir", "hazel", "larch")
ILL = {name: np.array([20 + 3 * place, 5 + place]) for place, name in enumerate(CLINICS)}  # of two diseases
HONEST = 5


class ClaimsAThousand(OdoParty):
    """Puts a thousand where a bit should be."""

    def _dealt(self, numbers: np.ndarray) -> ShareDealing:
        dealing, field = super()._dealt(numbers), self.terms.field
        dealing.rows[:, 0] = field.add(dealing.rows[:, 0], field.elements(1000))
        return dealing


class FalseShare(OdoParty):
    """Does everything right, but for the share of the sum that it gives away."""

    def _added(self) -> Signed:
        view, share = split(super()._added().message.body, 2)
        field = self.terms.field
        values = np.frombuffer(share, field.dtype)
        return self._signed("sum", framed(view, field.add(values, field.elements(1)).tobytes()))


def main() -> dict[str, Any]:
    """Run one round, with the relay and all clinics in this process."""
    noise = Binomial.of_coins(80)  # epsilon 1 at delta 1e-6, from the coins of the five who are honest
    terms = OdoTerms("this example", CLINICS, HONEST, size=2, coins=noise.share(HONEST).coins, largest=127)
    people = {name: Identity.drawn(name, system_bits()) for name in (*CLINICS, "server")}
    roster, kinds = Roster.of(people.values()), {"cedar": ClaimsAThousand, "fir": FalseShare}
    relay = OdoRelay(people["server"], terms, roster, UsedRounds())
    parties = {name: kinds.get(name, OdoParty)(people[name], terms, roster, UsedRounds()) for name in CLINICS}
    for party in parties.values():
        relay.receive(party.begin())
    left: dict[str, str] = {}
    while messages := relay.passed_on():
        for name in [name for name in messages if name not in left]:
            try:
                relay.receive(parties[name].answer(messages[name], lambda name=name: ILL[name]))  # type: ignore[misc]
            except Exception as why:  # who is found out has no further part
                left[name] = str(why)
    total = relay.total()
    counts = total.vector.view(np.int64).tolist()
    truth = np.sum([ILL[name] for name in total.survivors], axis=0).tolist()
    print(f"in the sum: {', '.join(total.survivors)}")
    print(f"counts with noise: {counts}; without: {truth}")
    for name in total.liars:
        print(f"{name} lied: {relay.refuted.get(name, 'its share of the sum lies on no polynomial with the others')}")
    return {"counts": counts, "truth": truth, "liars": list(total.liars), "survivors": list(total.survivors)}


if __name__ == "__main__":
    main()
