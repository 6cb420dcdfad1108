"""Membership: LiRA and RMIA on networks that were trained on halves of scikit-learn's digits, beside one threshold.

    python -m benchmarks.attacks_membership

The Adversarial Robustness Toolbox runs in an environment of its own (`peers/art_membership.txt`), or in that of the
interpreter that DISCREET_ART names. The folder DISCREET_DATA has records of other kinds. LeakPro cannot be installed:
what the index has under its name is empty.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from benchmarks import learners_anova, learning_data
from benchmarks.rows import Row, at_least, at_most, cpu_seconds, missing, printed, report
from discreet.attacks import (
    RMIA,
    LabelOnly,
    LiRA,
    MembershipData,
    MembershipScores,
    References,
    ShadowModels,
    SmallNetworks,
    ThresholdAttack,
)

MODELS, TARGETS, NETWORKS = 64, 32, SmallNetworks((64,), max_iter=60)
SEEDS = 16  # of references, where few of them are compared
OTHERS, OTHER_SEEDS = 1800, 4  # records of each other kind, and seeds of references
DATA = Path(os.environ.get("DISCREET_DATA", "shared/data"))
FILES = {"MNIST": "mnist.npz", "Adult": "adult.csv.gz", "COMPAS": "compas.csv.gz"}
NETWORK = MLPClassifier((64,), max_iter=60, learning_rate_init=0.01)
Attacker = Callable[[MembershipData, References], Any]


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def judged(references: References, attack: Attacker, targets: int = TARGETS, few: int = 0) -> MembershipScores:
    """Each of some references as the target of the others, except the one with the other half; all scores together.

    With `few`, each target has so many references of its own, drawn at random in pairs of complementary halves.
    """
    found = []
    for place in range(targets):
        inside = references.inside[place]
        X, y = references.X, references.y
        data = MembershipData.of(X[inside], y[inside], X[~inside], y[~inside])
        data.__dict__["warnings"] = ()  # both sides are drawn at random here
        pairs = np.delete(np.arange(len(references) // 2), place // 2)
        if few:
            pairs = np.random.default_rng(place).permutation(pairs)[: few // 2]
        others = references.some([model for pair in pairs.tolist() for model in (2 * pair, 2 * pair + 1)])
        found.append(attack(data, others).run(references.models[place]).scores)
    return together(found)


def together(parts: list[Any]) -> MembershipScores:
    """The scores of several targets."""
    sides = ([getattr(part, side) for part in parts] for side in ("members", "others"))
    return MembershipScores.of(*map(np.concatenate, sides))


def power_rows(references: References) -> Iterator[Row]:
    """Rates over those of one threshold."""
    attacks: dict[str, Attacker] = {
        "one threshold": lambda data, _: ThresholdAttack(data),
        "shadow models": ShadowModels,
        "LiRA": LiRA,
        "LiRA, offline": lambda data, others: LiRA(data, others, "offline"),
        "RMIA": RMIA,
    }
    found = {name: judged(references, attack) for name, attack in attacks.items()}
    found["labels alone"] = judged(references, lambda data, _: LabelOnly(data), 4)
    yield from _printed("digits", found)
    plain, lira = found["one threshold"], found["LiRA"]
    yield at_least("LiRA over one threshold, at 1 %", lira.rate_at(0.01) / plain.rate_at(0.01), 6)
    yield at_least("LiRA over one threshold, at 0.1 %", lira.rate_at(0.001) / plain.rate_at(0.001), 15)


FEW: dict[str, tuple[int, Attacker]] = {
    "LiRA, 16 references": (16, LiRA),
    "LiRA, 4 references": (4, LiRA),
    "LiRA, 4 references, one variance": (4, lambda data, others: LiRA(data, others, shared=1e9)),
    "RMIA, 4 references": (4, RMIA),
    "RMIA, 4 references, the ratio of probabilities alone": (4, lambda data, others: RMIA(data, others, near=0)),
    "RMIA, 4 references, offline": (4, lambda data, others: RMIA(data, others, "offline")),
    "RMIA, 62 references": (0, RMIA),
}


def with_few(X: np.ndarray, y: np.ndarray, seed: int, names: list[str]) -> dict[str, MembershipScores]:
    """What few references are worth to attacks, with one set of models."""
    references = References.fitted(NETWORKS, X, y, number=MODELS, random_state=1 + seed)
    return {name: judged(references, attack, few=few) for name, (few, attack) in FEW.items() if name in names}


def few_rows() -> Iterator[Row]:
    """What few references are worth, over several sets of them; LiRA with four at its better variance."""
    X, y = digits()
    parts = [with_few(X, y, seed, [*FEW]) for seed in range(SEEDS)]
    found = {name: together([part[name] for part in parts]) for name in FEW}
    yield from _printed("digits", found)
    robust, more = found["RMIA, 4 references"], found["LiRA, 16 references"]
    yield at_least("RMIA with 4 references: area over that of LiRA with 16", robust.area / more.area, 1)
    for rate in (0.01, 0.001):
        for name in [name for name in FEW if name.startswith("RMIA") and "offline" not in name]:
            claim = f"{name}: rate at {100 * rate:g} % over that of LiRA with 4"
            ratio = _over_lira(found, name, rate)
            yield at_least(claim, ratio, 2) if name == "RMIA, 4 references" else printed(claim, ratio)
            yield printed(f"{claim}, standard error over {SEEDS} sets", _error(parts, name, rate))


def other_rows() -> Iterator[Row]:
    """The same on records of other kinds, where they are given: nothing was chosen on them, and nothing promised."""
    names = ["LiRA, 16 references", "LiRA, 4 references", "LiRA, 4 references, one variance", "RMIA, 4 references"]
    for kind, made in (("MNIST", mnist), ("Adult", adult), ("COMPAS", recidivism)):
        if not (DATA / FILES[kind]).exists():
            yield printed(f"{kind}, which is not in DISCREET_DATA", "not tried")
            continue
        X, y = made()
        order = np.random.default_rng(0).permutation(len(y))[:OTHERS]
        parts = [with_few(X[order], y[order], seed, names) for seed in range(OTHER_SEEDS)]
        found = {name: together([part[name] for part in parts]) for name in names}
        yield from _printed(kind, found)
        area = found["RMIA, 4 references"].area / found["LiRA, 16 references"].area
        yield printed(f"{kind}, RMIA with 4 references: area over that of LiRA with 16", area)
        for rate in (0.01, 0.001):
            claim = f"{kind}, RMIA, 4 references: rate at {100 * rate:g} % over that of LiRA with 4"
            yield printed(claim, _over_lira(found, "RMIA, 4 references", rate))
            error = _error(parts, "RMIA, 4 references", rate)
            yield printed(f"{claim}, standard error over {OTHER_SEEDS} sets", error)


def mnist() -> tuple[np.ndarray, np.ndarray]:
    """Some pictures of the test set of MNIST, in pixels of 2 x 2."""
    with np.load(DATA / FILES["MNIST"]) as given:
        pictures, labels = given["x_test"], given["y_test"]
    return pictures.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(len(labels), -1) / 255, labels


def adult() -> tuple[np.ndarray, np.ndarray]:
    return learning_data._adult()


def recidivism() -> tuple[np.ndarray, np.ndarray]:
    X, y = learners_anova.compas()
    return X / np.maximum(X.std(axis=0), 1e-9), y


def _error(parts: list[dict[str, MembershipScores]], name: str, rate: float) -> float:
    """The standard error of the ratio over sets of references."""
    return float(np.std([_over_lira(part, name, rate) for part in parts], ddof=1)) / math.sqrt(len(parts))


def _over_lira(found: dict[str, MembershipScores], name: str, rate: float) -> float:
    """A rate over that of LiRA with four references at its better variance."""
    best = max(own.rate_at(rate) for key, own in found.items() if key.startswith("LiRA, 4"))
    return found[name].rate_at(rate) / best


def _printed(kind: str, found: dict[str, MembershipScores]) -> Iterator[Row]:
    for name, scores in found.items():
        rates = f"{scores.area:.3f}, {100 * scores.rate_at(0.01):.2f} %, {100 * scores.rate_at(0.001):.2f} %"
        yield printed(f"{kind}, {name}: area, rates at 1 % and 0.1 %", rates)


def time_rows() -> Iterator[Row]:
    X, y = digits()
    halves = References.fitted(NETWORKS, X, y, number=8).inside

    def theirs(number: int) -> None:
        for place in range(number):
            clone(NETWORK).set_params(random_state=place).fit(X[halves[place % 8]], y[halves[place % 8]])

    many, single = cpu_seconds(lambda: References.fitted(NETWORKS, X, y, number=MODELS), lambda: theirs(8), rounds=3)
    yield at_most(f"{MODELS} small networks at a time over {MODELS} fits of scikit-learn", many / (8 * single), 0.25)
    yield printed(f"seconds of processor time for {MODELS} references", many)
    ours, own = cpu_seconds(lambda: References.fitted(NETWORK, X, y, number=8), lambda: theirs(8), rounds=3)
    yield at_most("references by a scikit-learn network over its own fits", ours / own, 1.1)


def peer_rows() -> Iterator[Row]:
    """Targets of scikit-learn, attacked by shadow models of the toolbox and by references of ours."""
    X, y = digits()
    rng = np.random.default_rng(5)
    halves = rng.random((2, len(y))) < 0.5
    theirs = _peer("art", X, y, halves, 8)
    if theirs is None:
        yield missing("the Adversarial Robustness Toolbox on membership")
        return
    ours, seconds = [], 0.0
    for place, inside in enumerate(halves):
        target = clone(NETWORK).set_params(random_state=1000 + place).fit(X[inside], y[inside])
        data = MembershipData.of(X[inside], y[inside], X[~inside], y[~inside])
        data.__dict__["warnings"] = ()
        start = time.process_time()
        ours.append(RMIA(data, References.fitted(NETWORKS, X, y, number=8)).run(target).scores)
        seconds += (time.process_time() - start) / len(halves)
    found, other = together(ours), np.array(theirs["scores"])
    peer = MembershipScores.of(other[halves], other[~halves])
    for name, scores in (("ART with 8 shadow models", peer), ("RMIA with 8 references", found)):
        rates = f"{scores.area:.3f}, {100 * scores.rate_at(0.01):.2f} %"
        yield printed(f"digits, {name}, networks of scikit-learn: area, rate at 1 %", rates)
    yield at_least("RMIA over ART: area", found.area / peer.area, 1)
    yield at_least("RMIA over ART: rate at 1 %", found.rate_at(0.01) / max(peer.rate_at(0.01), 1e-4), 1)
    claim = "RMIA over ART: processor time, references and shadow models with it"
    yield at_most(claim, seconds / theirs["seconds"], 0.1)
    yield printed("LeakPro", "the index has an empty package")


def _peer(name: str, X: np.ndarray, y: np.ndarray, halves: np.ndarray, models: int) -> Any:
    """What a peer prints, or None where it is not installed."""
    interpreter = os.environ.get(f"DISCREET_{name.upper()}", f".venv/bench-{name}/bin/python")
    if not Path(interpreter).exists():
        return None
    script = Path(__file__).parent / "peers" / f"{name}_membership.py"
    with tempfile.TemporaryDirectory() as place:
        np.savez(path := Path(place) / "digits.npz", X=X, y=y, halves=halves)
        done = subprocess.run([interpreter, script, path, str(models)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def rows() -> Iterator[Row]:
    """What was promised of membership."""
    warnings.simplefilter("ignore")
    X, y = digits()
    yield from power_rows(References.fitted(NETWORKS, X, y, number=MODELS))
    yield from few_rows()
    yield from other_rows()
    yield from time_rows()
    yield from peer_rows()


if __name__ == "__main__":
    report("attacks_membership", list(rows()))
