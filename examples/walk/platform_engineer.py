"""A platform engineer: one durable account for a team, caps for each analyst, retries that cost nothing."""

import discreet
from discreet import Budget, Neighbors, PrivateData, SqliteLedger
from discreet.core.errors import DiscreetError

caps = {"ana": Budget(1.0, 1e-7), "ben": Budget(0.5, 1e-7)}
team = {"name": "patients", "neighbors": Neighbors.ADD_REMOVE, "analysts": caps}
SqliteLedger.create("team.ledger", Budget(2.0, 1e-6), **team).close()
records, schema = discreet.sample_records("patients"), discreet.sample("patients").schema

for analyst in ("ana", "ben", "stranger"):
    with SqliteLedger.open("team.ledger", analyst=analyst) as ledger:
        patients = PrivateData.of(records, schema, ledger)
        try:
            first = discreet.count(patients, "sex", epsilon=0.2, key=f"{analyst}'s count")
            again = discreet.count(patients, "sex", epsilon=0.2, key=f"{analyst}'s count")
            print(analyst, first, "the same again, for nothing:", first.value == again.value, again.receipt.replayed)
            discreet.mean(patients, "age", epsilon=0.9)
        except DiscreetError as refusal:
            print(analyst, "is refused:", refusal)
