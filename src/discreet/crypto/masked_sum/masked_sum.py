"""A sum of which nobody sees the parts: vectors modulo 2**64, masked so that the masks cancel.

Double masking after Bonawitz et al. 2017 ("Practical Secure Aggregation for Privacy-Preserving Machine Learning"),
without any network. All that is said is a `Signed` message; whoever drives the parties carries it.

    step        a client says                           the server answers, once it has heard enough
    keys        advertise(): two fresh public keys      announce(): all keys
    shares      share_keys(...): sealed and signed      deliver(): to each client, what was sealed for it
                shares of its mask seed and mask key
    masked      mask(...): its vector under all masks   survivors(): whose vectors arrived
    agreement   agree(...): signs that very list        confirm(): the signatures
    reveal      reveal(...): of each survivor a share   total(): the sum over the survivors
                of the seed, of each other a share of
                the key; of nobody both

A party may vanish at any step: its vector counts if it had arrived. With fewer parties than the threshold there is an
error and no sum. A survivor that reveals a false share is found out by its dealer's signature and counts as vanished at
that step; `Total.liars`, or the error, names it.

What is protected
-----------------
*A server that follows the protocol*, even one that reads everything along with any `threshold - 1` parties, learns the
sum over the survivors and nothing else about the vectors of the others; nor does it from vectors that arrive too late.
*A server that lies*, with the help of any `terms.colluders` parties, learns at most one sum, over at least `threshold`
parties, at least `threshold - terms.colluders` of them honest (`masked_sum.md` has the proofs).

What is not protected: the sum itself (add noise before masking); who takes part and who drops out; the sum's
correctness against parties that put in false vectors or a server that reports a false total; that the round ends
well, since anyone can stop it, though who does so by false shares is named. All rests on a roster with the right keys.
"""

from __future__ import annotations

from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import Terms, UsedRounds

__all__ = ["Client", "Server", "Terms", "Total", "UsedRounds"]
