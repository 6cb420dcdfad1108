"""k-anonymity, l-diversity and t-closeness: against anonypy, pycanon and brute force.

anonypy and pycanon run in environments of their own (`peers/*_anonymity.txt`): pycanon pins numpy. `adult.csv.gz` lies
in the folder DISCREET_DATA.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, cpu_seconds, missing, printed, report
from discreet.core.answer import Records
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel
from discreet.mechanisms.microdata.generalization_levels import (
    GeneralizationLevels,
    IntervalLevels,
    ListedLevels,
    on_level,
)
from discreet.mechanisms.microdata.lattice import GeneralizedTable, Lattice, LatticeSearch
from discreet.microdata import AnonymityReport, PublishedTable, anonymize, check_anonymity
from discreet.microdata.anonymity.anonymize import AnonymityPlan
from discreet.noise.system_bits import SystemBits
from discreet.schema.roles import Roles
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.private_data import PrivateData

ADULT = Path(os.environ.get("DISCREET_DATA", "shared/data")) / "adult.csv.gz"
QUASI = ("age", "zip", "edu", "sex")
ROLES = {**dict.fromkeys(QUASI, "quasi-identifier"), "ill": "sensitive"}
SCHEMA: dict[str, Column] = {
    "age": Number(0, 120, step=1),
    "zip": Number(0, 1000, step=1),
    "edu": Number(0, 20, step=1),
    "sex": Category(("0", "1")),
    "ill": Category(tuple("abcdefgh")),
}
LEVELS: tuple[GeneralizationLevels, ...] = (
    IntervalLevels(0.0, 64.0, (4.0, 16.0)),
    ListedLevels(6, ((0, 0, 1, 1, 2, 2), (0, 0, 0, 0, 1, 1))),
    ListedLevels(3),
)
WHITE_COLLAR = ["Exec-managerial", "Prof-specialty", "Adm-clerical", "Sales", "Tech-support"]
SERVICE = ["Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces"]
HIGH = ["Bachelors", "Masters", "Doctorate", "Prof-school"]
SOME = ["Some-college", "Assoc-voc", "Assoc-acdm"]
AMERICA = ["United-States", "Canada", "Mexico", "Puerto-Rico", "Cuba", "Jamaica", "Haiti", "Dominican-Republic"]


def people(n: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    return {
        "age": random.integers(17, 90, n),
        "zip": random.integers(0, 1000, n),
        "edu": random.integers(1, 17, n),
        "sex": random.integers(0, 2, n),
        "ill": np.array(list("abcdefgh"))[random.integers(0, 8, n)],
    }


def private(table: dict[str, Any], schema: dict[str, Column] = SCHEMA) -> PrivateData:
    return PrivateData.of(table, schema, Budget(1.0))


def anonymous(data: PrivateData, roles: dict[str, str] = ROLES, **options: Any) -> PublishedTable:
    return anonymize(data, roles, waiver="a benchmark on made-up and public records", **options)


def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        return [*mondrian(Path(place)), *checks(Path(place)), *agreement(Path(place)), *optimum(), *adult()]


def run(peer: str, *arguments: str) -> Any:
    """What a peer prints, or None where it is not installed."""
    interpreter = os.environ.get(f"DISCREET_{peer.upper()}", f".venv/bench-{peer}/bin/python")
    if not Path(interpreter).exists():
        return None
    script = Path(__file__).parent / "peers" / f"{peer}_anonymity.py"
    done = subprocess.run([interpreter, script, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def written(path: Path, table: dict[str, Any]) -> str:
    """A CSV file; a missing value is the text `missing`, or the number behind all others."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(_filled(np.asarray(column)) for column in table.values()), strict=True))
    return str(path)


def _filled(column: Any) -> list[Any]:
    if column.dtype.kind == "f":
        return np.where(np.isnan(column), np.nanmax(column) + 1, column).tolist()
    return ["missing" if value is None else value for value in column.tolist()]


def mondrian(place: Path) -> list[Row]:
    small = people(10_000)
    data = private(small)
    whole, ours = cpu_seconds(lambda: anonymous(data, k=10), cut_and_named(small), rounds=9)
    theirs = run("anonypy", written(place / "people.csv", small), "10")
    found = [missing("Mondrian, 1e4 rows x 4, processor time of anonypy over ours")]
    if theirs is not None:
        seconds = f"{theirs['cpu']:.1f} s over {ours * 1000:.0f} ms"
        claim = f"Mondrian, 1e4 rows x 4, k = 10: processor time of anonypy over ours ({seconds})"
        every = f"the same, with reading, ledger and storing of ours ({whole * 1000:.0f} ms)"
        found = [at_least(claim, theirs["cpu"] / ours, 300), at_least(every, theirs["cpu"] / whole, 300)]
        found.append(printed("classes of anonypy", float(theirs["classes"])))
    table = anonymous(data, k=10)
    found.append(printed("classes of ours", float(check_anonymity(table, ROLES).classes)))
    million = private(people(1_000_000))
    start = time.process_time()
    table = anonymous(million, k=10)
    spent = time.process_time() - start
    found.append(at_most("Mondrian, 1e6 rows x 4, k = 10: seconds of processor time, all included", spent, 5))
    found.append(at_least("Mondrian, 1e6 rows x 4: k of the table", check_anonymity(table, ROLES).k, 10))
    return found


def cut_and_named(table: dict[str, Any]) -> Callable[[], Any]:
    """What anonypy does: records in memory are cut, and rows with texts of their ranges made."""
    plan = AnonymityPlan(Schema(SCHEMA), Roles(ROLES), AnonymityModel(10), ())
    codes = [table["ill"].view(np.int32) if name == "ill" else table[name] for name in plan.columns]
    records = Records(np.stack(codes, axis=1).astype(float), 1, Neighbors.ADD_REMOVE)
    return lambda: plan.schema_of(plan.mondrian.release(records, SystemBits()))


def checks(place: Path) -> list[Row]:
    """t-closeness of a table of 1e4 rows, with missing values and without."""
    found = []
    for name, share in (("", 0.0), (", with missing values", 0.05)):
        table = people(10_000)
        random = np.random.default_rng(1)
        table = {key: np.where(random.random(10_000) < share, None, column) for key, column in table.items()}
        table["age"] = table["age"].astype(float)
        released = anonymous(private(table), k=10)
        shown = {column: released[column] for column in (*QUASI, "ill")}
        (ours,) = cpu_seconds(lambda shown=shown: check_anonymity(shown, ROLES))  # type: ignore[misc]
        theirs = run("pycanon", written(place / "shown.csv", shown))
        claim = f"t-closeness, 1e4 rows{name}: processor time of pycanon over our whole check"
        if theirs is None:
            found.append(missing(claim))
            continue
        seconds = f"{theirs[0]['cpu']:.2f} s over {ours * 1000:.1f} ms"
        apart = abs(theirs[0]["t"] - (check_anonymity(shown, ROLES).t or 0.0))
        found.append(at_least(f"{claim} ({seconds})", theirs[0]["cpu"] / ours, 100))
        found.append(at_most(f"t-closeness, 1e4 rows{name}: distance from pycanon's", apart, 1e-9))
    return found


def agreement(place: Path) -> list[Row]:
    """What pycanon finds in tables of all models and both methods."""
    models: list[dict[str, Any]] = [
        {"k": 5},
        {"k": 3, "l": 3},
        {"k": 3, "l": 2.5, "diversity": "entropy"},
        {"k": 3, "l": 2, "diversity": "recursive", "c": 2.0},
        {"k": 3, "t": 0.3},
    ]
    table = people(1_000)
    random = np.random.default_rng(2)
    table = {name: np.where(random.random(1_000) < 0.05, None, column) for name, column in table.items()}
    lattice: dict[str, Any] = {
        "method": "lattice",
        "suppression": 0.05,
        "hierarchies": {"age": (10, 30), "zip": (100, 500), "edu": (4,)},
    }
    ours, paths, kept = list[AnonymityReport](), list[str](), True
    for model, options in product(models, ({}, lattice)):
        released = anonymous(private(table), **model, **options)
        shown = {column: released[column] for column in (*QUASI, "ill")}
        figures = check_anonymity(shown, ROLES)
        ours.append(figures)
        kept &= figures.k >= model["k"] and (figures.t or 0.0) <= model.get("t", 1.0) + 1e-9
        paths.append(written(place / f"table-{len(paths)}.csv", shown))
    found = [Row("k and t of ten tables are as asked", "all" if kept else "not all", "all", kept)]
    theirs = run("pycanon", *paths)
    if theirs is None:
        return [*found, missing("figures of ten tables that pycanon finds too")]
    same = sum(
        own.k == one["k"]
        and own.l == one["l"]
        and int(own.sensitive[0].entropy + 1e-9) == one["entropy"]
        and abs(own.sensitive[0].t - one["t"]) < 1e-9
        for own, one in zip(ours, theirs, strict=True)
    )
    return [*found, at_least("tables of both methods whose k, l and t pycanon finds too, of 10", same, 10)]


def optimum() -> list[Row]:
    """The lattice against all combinations of levels, on 50 small tables."""
    same = 0
    for seed in range(50):
        random = np.random.default_rng(seed)
        n = int(random.integers(8, 60))
        values = np.stack([random.integers(0, most, n) for most in (64, 6, 3)], axis=1).astype(float)
        lattice = Lattice(AnonymityModel(3), LEVELS, (), (0.0, 0.1, 0.3)[seed % 3])
        search = LatticeSearch(GeneralizedTable(lattice, Records(values, 1, Neighbors.ADD_REMOVE)))
        same += abs(search.least - _least_loss(values, 3, search.table.limit)) < 1e-12
    return [at_least("lattice: optima of brute force, of 50 tables", same, 50)]


def _least_loss(values: Array, k: int, limit: int) -> float:
    best = np.inf
    for node in product(*(range(len(one.losses)) for one in LEVELS)):
        columns = [on_level(one, own, level) for one, own, level in zip(LEVELS, values.T, node, strict=True)]
        counts = Counter(zip(*(column.tolist() for column in columns), strict=True)).values()
        out = sum(count for count in counts if count < k)
        loss = float(np.mean([one.losses[level] for one, level in zip(LEVELS, node, strict=True)]))
        if out <= limit:
            best = min(best, loss + (1 - loss) * out / len(values))
    return best


def adult() -> list[Row]:
    """Nine quasi-identifiers of the census table."""
    names = (
        "age",
        "sex",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary",
    )
    if not ADULT.exists():
        return [missing("lattice, Adult with 9 quasi-identifiers")]
    with gzip.open(ADULT, "rt", newline="") as file:
        records = list(csv.DictReader(file))
    table = {name: [row[name].strip() for row in records] for name in names}
    schema: dict[str, Column] = {name: Category(sorted(set(column) - {"?"})) for name, column in table.items()}
    schema["age"] = Number(17, 90, step=1)
    hierarchies = {"age": (5, 10, 20, 40), **{name: _groups(name, schema[name]) for name in names[3:8]}}
    roles = dict.fromkeys(names, "quasi-identifier")
    found = []
    for k, suppression in ((5, 0.0), (5, 0.02), (10, 0.05)):
        data = private(table, schema)
        start = time.process_time()
        options: dict[str, Any] = {"method": "lattice", "hierarchies": hierarchies, "suppression": suppression}
        released = anonymous(data, roles, k=k, **options)
        seconds = time.process_time() - start
        at = f"lattice, Adult with 9 quasi-identifiers, k = {k}, {suppression:.0%} left out at most"
        found.append(at_most(f"{at}: seconds of processor time", seconds, 10))
        found.append(printed(f"{at}: loss", float(released.notes["loss"])))
    return found


def _groups(name: str, column: Any) -> list[dict[str, list[str]]]:
    """Two or three groups by meaning, where the values of a list that are not named are the last."""
    parts: dict[str, list[list[str]]] = {
        "marital-status": [["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent"]],
        "education": [HIGH, SOME],
        "native-country": [AMERICA],
        "workclass": [["Private"], ["Federal-gov", "Local-gov", "State-gov"]],
        "occupation": [WHITE_COLLAR, SERVICE],
    }
    named = [value for part in parts[name] for value in part]
    every = [*parts[name], [value for value in column.values if value not in named]]
    return [{f"group {place + 1}": part for place, part in enumerate(every)}]


if __name__ == "__main__":
    report("release_anonymity", rows())
