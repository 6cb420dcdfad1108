"""The Adversarial Robustness Toolbox on membership: shadow models and an attack model, as its own example has them.

    python art_membership.py digits.npz models

Trains targets on the halves in the file, attacks each with so many shadow models, and prints scores and seconds.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from art.attacks.inference.membership_inference import MembershipInferenceBlackBox, ShadowModels
from art.estimators.classification.scikitlearn import ScikitlearnClassifier
from art.utils import to_categorical
from sklearn.neural_network import MLPClassifier


def network(seed: int) -> MLPClassifier:
    return MLPClassifier((64,), max_iter=60, learning_rate_init=0.01, random_state=seed)


def wrapped(model: MLPClassifier) -> ScikitlearnClassifier:
    return ScikitlearnClassifier(model, clip_values=(0, 1))


def main(path: str, models: int) -> None:
    warnings.simplefilter("ignore")
    held = np.load(path)
    X, y, halves = held["X"].astype(np.float32), held["y"], held["halves"]
    scores, seconds = [], 0.0
    for place, inside in enumerate(halves):
        target = wrapped(network(1000 + place).fit(X[inside], y[inside]))
        start = time.process_time()
        template = wrapped(network(0).fit(X[:200], y[:200]))
        shadows = ShadowModels(template, num_shadow_models=models, random_state=place)
        seen, unseen = shadows.generate_shadow_dataset(X, to_categorical(y, 10))
        attack = MembershipInferenceBlackBox(target, attack_model_type="nn")
        attack.fit(seen[0], seen[1], unseen[0], unseen[1], seen[2], unseen[2])
        found = attack.infer(X, to_categorical(y, 10), probabilities=True)
        seconds += time.process_time() - start
        scores.append(np.asarray(found, dtype=float).reshape(len(y), -1)[:, -1].tolist())
    print(json.dumps({"scores": scores, "seconds": seconds / len(halves)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
