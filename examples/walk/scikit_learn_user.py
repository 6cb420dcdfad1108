"""A user of scikit-learn: arrays in, a private classifier out, scored by scikit-learn itself."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from discreet.learners import LogisticRegression, PrivatePipeline, StandardScaler, plot_privacy_utility

X, y = make_classification(n_samples=4000, n_features=8, n_informative=5, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

model = LogisticRegression(bounds=(-8, 8), classes=[0, 1], epsilon=1.0, delta=1e-6)  # bounds are known, not looked up
model.fit(X_train, y_train)
print(f"right: {accuracy_score(y_test, model.predict(X_test)):.2f}; {model.receipt_.cost}")

steps = [("scale", StandardScaler()), ("fit", LogisticRegression())]
pipeline = PrivatePipeline(steps, bounds=(-8, 8), classes=[0, 1], epsilon=1.0, delta=1e-6).fit(X_train, y_train)
print(f"right, scaled first, for one price: {pipeline.score(X_test, y_test):.2f}; {pipeline.receipt_.cost}")

public = np.random.default_rng(0).normal(0, 2, (1000, 8))  # made up: shows what an epsilon is worth
plot_privacy_utility(model, public, (public[:, 0] > 0).astype(int), [0.3, 3.0], repeats=3).figure.savefig("scores.svg")
