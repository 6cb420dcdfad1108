"""From a CSV file to a private classifier, chosen and evaluated privately, with a receipt.

    python examples/adult.py                      # on an invented table with the columns of the census table "Adult"
    python examples/adult.py train.csv test.csv   # on the table itself, in two parts

The schema, adult.toml, says what is public. Each file has a ledger of its own: their people are different.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from discreet import Budget, PrivateData, Schema
from discreet.learners import LogisticRegression, OneHotEncoder, PrivatePipeline, PrivateSearchCV, evaluate
from discreet.query.schema_file import read_schema

SCHEMA = Path(__file__).with_suffix(".toml")


def stand_in(path: Path, n: int, seed: int) -> None:
    """Write a table of invented people with these columns, of whom the older and better educated earn more."""
    schema, rng = read_schema(SCHEMA).schema, np.random.default_rng(seed)
    columns = {name: _invented(schema, name, n, rng) for name in schema.columns}
    score = (columns["age"] - 40) / 20 + (columns["education-num"] - 10) / 2 + rng.logistic(0, 0.5, n)
    married = columns["marital-status"] == "Married-civ-spouse"
    columns["salary"] = np.where(score + 2 * married > 1.5, ">50K", "<=50K")
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _invented(schema: Schema, name: str, n: int, rng: np.random.Generator) -> Any:
    if name in schema.features:
        number = schema.number(name)
        return rng.integers(int(number.lower), int(number.upper) + 1, n)
    return rng.choice([*schema.category(name).values, "?"], n)


def main(train: Path | None = None, test: Path | None = None) -> dict[str, Any]:
    """Search, fit, evaluate; give what was found and what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        if train is None or test is None:
            train, test = Path(folder, "train.csv"), Path(folder, "test.csv")
            stand_in(train, 6000, seed=0)
            stand_in(test, 2000, seed=1)
        schema = read_schema(SCHEMA).schema
        steps = [("encode", OneHotEncoder()), ("fit", LogisticRegression())]
        search = PrivateSearchCV(PrivatePipeline(steps), {"fit__max_iter": [4, 10]}, target="salary", epsilon=1.0)
        search.fit(PrivateData.of(train, schema, Budget(1.0, 1e-6)))
        found = evaluate(search, PrivateData.of(test, schema, Budget(0.5)), target="salary", epsilon=0.5)
    print(search.receipt_)
    print(f"\n{search.best_params_}\n\n{found}\n\n{found.confusion}")
    return {"accuracy": found.accuracy.value, "auc": found.auc.value, "epsilon": search.receipt_.epsilon}


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
