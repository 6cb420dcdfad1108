"""An analyst with pandas: from a data frame to numbers that may be shown, and a chart."""

import pandas

import discreet

frame = pandas.DataFrame(discreet.sample_records("patients"))  # or pandas.read_csv("...")
schema = {"age": (0, 110), "stay_days": (0, 32), "sex": ["f", "m", "x"], "department": ["surgery", "maternity"]}
patients = discreet.PrivateData.of(frame, schema, discreet.Budget(1.0))

print(discreet.plan(patients, "mean of age", "median of stay_days", n=5000, epsilon=[0.1, 0.3]))
print(discreet.mean(patients, "age", epsilon=0.3))
print(discreet.median(patients, "stay_days", epsilon=0.3))
stays = discreet.mean(patients, "stay_days", by="department", epsilon=0.3)
print(stays.to_pandas())
discreet.histogram(patients, "age", bins=11, epsilon=0.1).plot().figure.savefig("ages.svg")
print(patients.ledger.balance())
