"""A sum with its noise, in verified shares: right though some parties lie, and private towards the others.

After Dwork, Kenthapadi, McSherry, Mironov and Naor 2006 ("Our Data, Ourselves: Privacy via Distributed Noise
Generation"), with proofs that are polynomials instead of commitments of group elements, and a relay that nobody has to
trust in the place of lines between all parties.

Where parties put in noise of their own (`odo-vector`), there are no coins, and numbers are dealt with an offset that
is taken off the sum again.

    step         a party says                              the relay passes on to all
    keys         a fresh key for boxes                     announcements
    deal         a box for each other: shares of the       delivery: to each the boxes for it, and all headers
                 bits of its numbers, of its coins, of
                 masks, and of a seed; a header with a
                 commitment to the seed and the digests
                 of all boxes
    dealt        which headers it has seen                 dealings
    seeds        its shares of all seeds                   openings: public coins follow
    proof        two polynomials for each kind of test     proofs
    complaints   whose proof misses its shares             accusations
    answers      the shares of those who complained        defences: whose dealings count follows
    agreed       that it has seen all of this; left out    accord
                 where nobody complained
    sum          its share of the sum over all dealings    (nothing: the relay decodes the sum)
                 that count, coins turned over as the
                 public coins say

Everything from `dealt` on carries a digest of all that its speaker has seen before.

What is protected (`odo.md` has the arguments)
-----------------
Let at most `faults` parties, less than a third, lie, leave, or be cut off. *The sum is right*: it is that of the
numbers of all honest parties, of numbers in range of those others whose dealings count, and of fair coins of all of
these, turned over by public ones that nobody chose: so the noise has its law whatever coins a liar takes. *Who lied is
named*, and nobody who did not. *The relay and the liars together* learn that sum and nothing else; they know the
liars' coins, so the promise is kept by the coins of the others.

What is not: numbers that are in range and false; who takes part; a round that more parties disturb ends without a sum.
A relay that cuts honest parties off in favour of liars leaves fewer honest coins in the sum: a federation counts such
liars as `colluding`. All rests on a roster with the right keys, and on SHA-256, X25519, AES-256 and Ed25519.
"""

from __future__ import annotations

from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_relay import OdoRelay
from discreet.crypto.odo.odo_terms import OdoTerms

__all__ = ["OdoParty", "OdoRelay", "OdoTerms"]
