"""What notebooks show, on five sheets: results, an account, models, what other rooms release, and a whole report.

Whatever has a form of its own in notebooks belongs on one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import discreet
from discreet import Budget, PrivateData, Schema, learners
from discreet.audit.trial import judged
from discreet.core.events import PureLoss
from discreet.deep import PrivateTensors, Trainer, TrainingPlan
from discreet.graphs import graph_data, publish_network, utility_against_truth
from discreet.local import Aggregator, frequency_oracle
from discreet.noise.system_bits import system_bits
from discreet.sequential import series_of_people


def patients() -> PrivateData:
    """The sample, with a budget for everything here."""
    return discreet.sample("patients", epsilon=100.0, delta=1e-4)


def results() -> Iterator[Any]:
    """A result of each kind that statistics have."""
    data = patients()
    yield discreet.mean(data, "age", epsilon=0.5)
    yield discreet.mean(data, "stay_days", by="department", where="age > 40 and sex = 'f'", epsilon=0.5)
    yield discreet.quantile(data, "weight_kg", q=0.9, epsilon=0.5)
    yield discreet.histogram(data, "department", epsilon=0.5)
    yield discreet.contingency(data, ["department", "sex"], epsilon=0.5)
    yield discreet.correlation(data, ["age", "weight_kg", "systolic", "stay_days"], epsilon=1.0, delta=1e-6)
    yield discreet.robust_regression(data, "systolic", ["age", "weight_kg"], epsilon=1.0, delta=1e-6)
    yield discreet.t_test(data, "systolic", 120, epsilon=0.5)


def account() -> Iterator[Any]:
    """A data set, what is public of it, and what was paid."""
    data = discreet.sample("patients")
    found = discreet.mean(data, "age", epsilon=0.3, key="first")
    discreet.histogram(data, "sex", epsilon=0.2)
    yield data.schema
    yield data
    yield data.ledger
    yield data.ledger.balance()
    yield found.receipt
    yield discreet.plan(data, "mean of age", "median of stay_days", n=5000, epsilon=[0.5, 1.0], delta=1e-6)


def models() -> Iterator[Any]:
    """Models before and after a fit, and a network."""
    data = patients()
    yield learners.KMeans(4, columns=["age", "stay_days"], epsilon=0.8, delta=1e-7)
    yield learners.KMeans(4, columns=["age", "stay_days"], epsilon=0.8, delta=1e-7).fit(data)
    people = {"height": np.linspace(150, 200, 400), "sex": ["f", "m"] * 200}  # naive Bayes takes numbers alone
    pairs = PrivateData.of(people, {"height": (140, 210), "sex": ["f", "m"]}, Budget(1.0))
    yield learners.GaussianNB(epsilon=1.0, target="sex").fit(pairs)
    inputs, budget = torch.randn(400, 2), Budget(3.0, 1e-5)
    plan, network = TrainingPlan.of(budget, batch=100, expected_size=400), torch.nn.Linear(2, 2)
    losses, steps = torch.nn.CrossEntropyLoss(reduction="none"), torch.optim.SGD(network.parameters(), lr=1.0)
    trainer = Trainer(network, steps, losses, PrivateTensors(inputs, (inputs[:, 0] > 0).long(), budget), plan)
    yield plan
    trainer.run()
    yield trainer
    yield trainer.card()


def rooms() -> Iterator[Any]:
    """What is released by graphs, devices, streams and audits."""
    pairs = np.stack(np.triu_indices(60, 1), axis=1)
    friends = pairs[np.random.default_rng(0).random(len(pairs)) < 0.2]
    graph = graph_data(friends, 60, Budget(20.0), unit="edge")
    network = publish_network(graph, communities=3, tiers=2, epsilon=4.0, random_state=1)
    choice = frequency_oracle(("Rome", "Oslo", "Lima", "Kyiv", "Bonn", "Cork"), epsilon=1.0)
    survey = Aggregator(choice.oracle, simulated=True)
    survey.add(choice.oracle.reports(["Oslo"] * 600 + ["Lima"] * 400, system_bits()))
    yield graph
    yield network
    yield utility_against_truth(friends, network.edges, 60)
    yield choice
    yield survey.estimate()
    yield series_of_people(np.ones((500, 7)), bounds=(0, 1), coefficients=2, epsilon=1.0)
    yield judged(PureLoss(1.1), *(np.random.default_rng(1).random((2, 10_000)) < [[0.75], [0.25]]))


def report() -> Iterator[Any]:
    """A report of a number, of listed values and of text."""
    records, data = discreet.sample_records("patients"), patients()
    schema = Schema({name: data.schema.columns[name] for name in ("age", "department", "town")})
    yield discreet.profile(PrivateData.of(records, schema, Budget(1.0, 1e-6)), Budget(1.0, 1e-6))


SHEETS = {each.__name__: each for each in (results, account, models, rooms, report)}
