"""A statistics office: a table that adds up, published once, with its privacy card."""

from pathlib import Path

import discreet

patients = discreet.sample("patients", epsilon=3.0, delta=1e-6)

report = discreet.profile(patients, discreet.Budget(0.5, 1e-7), title="patients", key="release 1")
Path("report.html").write_text(report.to_html(), encoding="utf-8")
Path("receipt.json").write_text(report.receipt.to_json(), encoding="utf-8")

table = discreet.contingency(patients, ["sex", "department"], epsilon=0.5)
table.to_pandas().to_csv("sex_by_department.csv")
margins = discreet.marginals(patients, ["sex", "department"], sets=[["sex"], ["department"]], epsilon=0.5)
print(margins)
test = discreet.independence(patients, ["sex", "department"], epsilon=0.3)
print(test)
print(patients.ledger.balance())
