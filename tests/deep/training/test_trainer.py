"""Private gradient descent: what it learns, what it pays, and an audit of its steps."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from discreet.accounting.accountant import epsilon
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError, UnplannedRelease
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import SlowLayers, Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.forks import in_a_fork
from tests.deep.asked import sums_of, view_of
from tests.deep.questions.test_sampled_gradient import TwoThirdsOfTheNoise
from tests.deep.trial import Part, TrainingTrial, numbers

BUDGET = Budget(3.0, 1e-5)
STEP = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 1, 1.0, 1.0)


class LessNoise(Trainer):
    """Steps with two thirds of the noise."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._gradient.__class__ = TwoThirdsOfTheNoise


def stepped(kind: type[Any], noise: Gaussian, side: int, bits: Bits) -> Array:
    """A run of one step: what it shows of a person with a gradient far longer than the clip."""
    x, model = torch.full((side, 1), 1e3), nn.Linear(1, 1)
    data = PrivateTensors(1e-3 * x, x, Budget(1e9, 0.5), bits=bits)
    plan = TrainingPlan(SecretSample(1.0), noise, 1, 1.0, 1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    kind(model, optimizer, lambda out, far: out[:, 0] * far[:, 0], data, plan, chunk=1).run()
    return numbers(model)


def tried(kind: type[Any], budget: Budget) -> tuple[Any, Any]:
    data, model = PrivateTensors(*people(40), budget), network()
    plan = TrainingPlan(SecretSample(0.5), Gaussian(4.0), 3, 1.0, 20.0)
    return kind(model, torch.optim.SGD(model.parameters(), lr=2.0), crossed, data, plan), data


TRIAL = TrainingTrial({"a step": Part(stepped)}, tried, [("a step", LessNoise)])


def crossed(given: Tensor, wanted: Tensor) -> Tensor:
    return functional.cross_entropy(given, wanted, reduction="none")


def people(n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=generator)
    return x, (x[:, 0] * x[:, 1] > 0).long()


def network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2))


def trainer(data: PrivateTensors, plan: TrainingPlan, **given: Any) -> Trainer:
    model = network()
    return Trainer(model, torch.optim.SGD(model.parameters(), lr=2.0), crossed, data, plan, **given)


def ledger(path: Path, budget: Budget = BUDGET) -> SqliteLedger:
    return SqliteLedger.create(path / "ledger.db", budget, name="people", neighbors=Neighbors.ADD_REMOVE)


def test_it_learns_what_no_line_separates() -> None:
    x, y = people(10_000)
    plan = TrainingPlan.of(BUDGET, batch=1000, expected_size=10_000, epochs=14)
    run = trainer(PrivateTensors(x, y, BUDGET, bits=DeterministicBits(3)), plan)
    assert run.run().number == 140
    fresh, wanted = people(4000, seed=1)
    assert (run.model(fresh).argmax(dim=1) == wanted).float().mean() > 0.85


def test_the_plan_is_the_cheapest_that_fits() -> None:
    plan = TrainingPlan.of(BUDGET, batch=100, expected_size=10_000, epochs=3)
    assert plan.steps == 300
    assert BUDGET.epsilon * 0.999 <= epsilon(plan.event, BUDGET.delta) <= BUDGET.epsilon
    assert plan.event.event == SecretSample(0.01).event(GaussianLoss(plan.noise.multiplier))  # type: ignore[attr-defined]


def test_chunks_do_not_change_what_is_asked() -> None:
    """Where a record is dealt to is secret, and so results agree up to rounding before noise is drawn."""
    plan, found = TrainingPlan(SecretSample(1.0), Gaussian(0.7), 3, 1.0, 180.0), []
    for chunk in (7, 64, 1000):
        data = PrivateTensors(*people(600), Budget(100.0, 1e-5))
        one = SampledGradient(network(), crossed, data, plan, chunk)
        sums = sums_of(one, chunk)
        found.append(torch.cat([part.flatten() for part in sums.values()]))
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-5, atol=1e-4)


def test_neither_a_compiler_nor_less_precision_changes_what_is_learned_by_much() -> None:
    graphs: list[nn.Module] = []

    def compiler(graph: nn.Module) -> nn.Module:
        graphs.append(graph)
        return graph

    found = []
    ways: list[dict[str, Any]] = [{}, {"compiler": compiler}, {"precision": torch.bfloat16}]
    for way in ways:
        data = PrivateTensors(*people(300), BUDGET, bits=DeterministicBits(4))
        run = trainer(data, TrainingPlan.of(BUDGET, batch=100, expected_size=300), **way)
        run.run()
        found.append(torch.cat([one.detach().flatten() for one in run.model.parameters()]))
    assert len(graphs) == 1
    torch.testing.assert_close(found[1], found[0], rtol=1e-5, atol=1e-6)
    assert 0 < (found[2] - found[0]).norm() < 0.05 * found[0].norm()


def test_a_step_on_nobody_is_noise_of_the_stated_deviation() -> None:
    model = nn.Linear(300, 300, bias=False)
    data = PrivateTensors(torch.zeros(0, 300), torch.zeros(0, 300), Budget(1e4, 1e-5))
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.5), 1, 0.2, 10.0)
    Trainer(model, torch.optim.SGD(model.parameters(), lr=0.0), lambda a, b: (a - b).sum(dim=1), data, plan).run()
    assert model.weight.grad is not None
    noise = model.weight.grad.flatten() * 10.0 / (1.5 * 0.2)
    assert abs(float(noise.std()) - 1) < 0.02
    assert abs(float(noise.mean())) < 0.02


def test_steps_are_charged_in_blocks_before_they_are_drawn(tmp_path: Path) -> None:
    x, y = people(200)
    plan = TrainingPlan(SecretSample(0.1), Gaussian(4.0), 10, 1.0, 20.0)
    account = ledger(tmp_path)
    steps = trainer(PrivateTensors(x, y, account), plan, block=4).steps()
    assert account.balance().certified == 0
    next(steps)
    first = account.balance().certified
    assert [entry.committed for entry in account.entries()] == [False]
    for _ in range(3):
        next(steps)
    assert account.balance().certified == first
    next(steps)
    assert account.balance().certified > first
    assert [entry.committed for entry in account.entries()] == [True, False]
    del steps  # as if it were killed: what was drawn stays paid for
    assert [entry.committed for entry in account.entries()] == [True, False]


def test_it_stops_where_the_next_block_does_not_fit(tmp_path: Path) -> None:
    x, y = people(200)
    account, plan = ledger(tmp_path), TrainingPlan(SecretSample(0.1), Gaussian(2.0), 1000, 1.0, 20.0)
    run = trainer(PrivateTensors(x, y, account), plan, block=50)
    with pytest.raises(BudgetExceeded):
        run.run()
    made = int(run.checkpoint()["done"])
    assert 0 < made < 1000
    assert made % 50 == 0
    assert all(entry.committed for entry in account.entries())
    assert 0 < account.balance().certified <= BUDGET.epsilon


def test_going_on_from_an_older_checkpoint_pays_again(tmp_path: Path) -> None:
    x, y = people(200)
    plan, account = TrainingPlan(SecretSample(0.1), Gaussian(4.0), 6, 1.0, 20.0), ledger(tmp_path)
    first = trainer(PrivateTensors(x, y, account), plan, block=2)
    steps = first.steps()
    next(steps)
    next(steps)
    old = first.checkpoint()
    saved = {name: one.clone() for name, one in old["model"].items()}
    first.run()
    again = trainer(PrivateTensors(x, y, account), plan, block=2)
    again.resume({**old, "model": saved})
    assert again.run().number == 6
    assert len(account.entries()) == 1 + 2 + 2


def test_released_weights_carry_what_they_cost(tmp_path: Path) -> None:
    x, y = people(200)
    account = ledger(tmp_path)
    run = trainer(PrivateTensors(x, y, account), TrainingPlan(SecretSample(0.1), Gaussian(4.0), 2, 1.0, 20.0))
    run.run()
    run.release(tmp_path / "model.pt")
    kept = torch.load(tmp_path / "model.pt", weights_only=True)
    card = json.loads(kept["card"])
    assert card == json.loads((tmp_path / "model.pt.card.json").read_text())
    assert card["epsilon"] == account.balance().certified > 0
    assert (card["unit"]["kind"], card["neighbors"], card["head"]) == ("record", "add_remove", account.head)
    torch.testing.assert_close(kept["weights"]["0.weight"], run.model.state_dict()["0.weight"])


def test_a_resumed_run_keeps_its_schedule_and_its_average(tmp_path: Path) -> None:
    plan = TrainingPlan(SecretSample(0.1), Gaussian(4.0), 6, 1.0, 20.0)

    def fresh() -> Trainer:
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.25, total_iters=6)
        data = PrivateTensors(*people(200), Budget(100.0, 1e-5))
        return Trainer(model, optimizer, crossed, data, plan, schedule=schedule, ema_decay=0.9)

    first, again = fresh(), fresh()
    steps = first.steps()
    for _ in range(4):
        next(steps)
    assert first.optimizer.param_groups[0]["lr"] == pytest.approx(2.0 * (1 - 0.75 * 4 / 6))
    again.resume(pickle.loads(pickle.dumps(first.checkpoint())))
    for kept, was in zip(again.average.parameters(), first.average.parameters(), strict=True):
        torch.testing.assert_close(kept, was)
    assert again.run().number == 6
    assert again.optimizer.param_groups[0]["lr"] == pytest.approx(0.5)
    again.release(tmp_path / "model.pt")
    released = torch.load(tmp_path / "model.pt", weights_only=True)["average"]
    torch.testing.assert_close(released["0.weight"], again.average.state_dict()["0.weight"])
    with pytest.raises(ParameterError, match="schedule"):
        again.resume({"model": {}, "optimizer": {}, "average": {}, "gradients": {}, "done": 1})


def wrong_checkpoints(good: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What no run of this trainer has written: far off, not finite, of other shapes, or of another clip."""
    weights = dict(good["model"])
    holes = {**weights, "2.bias": torch.full((2,), torch.nan)}
    return {
        **{f"done {done}": {**good, "done": done} for done in (1000, 7, -7, 2.5, True, "3", None, math.nan)},
        **{f"clip {clip}": {**good, "gradients": {"clip": clip}} for clip in (100.0, 0.5, math.nan, -1.0, "1")},
        "no clip": {**good, "gradients": {}},
        "nan weights": {**good, "model": holes},
        "nan average": {**good, "average": {**dict(good["average"]), "2.bias": torch.full((2,), torch.inf)}},
        "other shapes": {**good, "model": {**weights, "2.bias": torch.zeros(3)}},
        "no bias": {**good, "model": {name: one for name, one in weights.items() if name != "2.bias"}},
        "no weights": {**good, "model": None},
        "other optimizer": {**good, "optimizer": {"state": {}, "param_groups": []}},
        "nan momentum": {
            **good,
            "optimizer": {**good["optimizer"], "state": {0: {"momentum_buffer": torch.tensor([torch.nan])}}},
        },
        "nothing": {},
    }


def test_a_checkpoint_that_no_such_run_has_written_is_refused_and_changes_nothing() -> None:
    plan = TrainingPlan(SecretSample(0.1), Gaussian(4.0), 6, 1.0, 20.0)
    run = trainer(PrivateTensors(*people(200), Budget(100.0, 1e-5)), plan, ema_decay=0.9)
    next(run.steps())
    good = pickle.loads(pickle.dumps(run.checkpoint()))
    for name, wrong in wrong_checkpoints(good).items():
        with pytest.raises(ParameterError, match="resume: "):
            run.resume(wrong)
        now = run.checkpoint()
        assert now["done"] == 1, name
        assert now["gradients"] == good["gradients"], name
        for part in ("model", "average"):
            assert all(torch.equal(one, good[part][key]) for key, one in now[part].items()), name
    run.resume(good)
    assert run.run().number == 6


def test_a_moving_clip_is_resumed_where_it_can_have_moved_to() -> None:
    plan = TrainingPlan.of(BUDGET, batch=50, expected_size=200, quantile=0.5)
    run = trainer(PrivateTensors(*people(200), BUDGET), plan)
    good = run.checkpoint()
    run.resume({**good, "gradients": {"clip": 0.25}})
    assert run.checkpoint()["gradients"] == {"clip": 0.25}
    for wrong in (0.0, 2.0**21, math.inf):
        with pytest.raises(ParameterError, match="resume"):
            run.resume({**good, "gradients": {"clip": wrong}})


def test_a_release_that_is_interrupted_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trainer(PrivateTensors(*people(200), BUDGET), TrainingPlan(SecretSample(0.1), Gaussian(4.0), 1, 1.0, 20.0))
    run.run()
    run.release(tmp_path / "model.pt")
    before = (tmp_path / "model.pt").read_bytes()

    def killed(_: Any, path: Path) -> None:
        Path(path).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run.release(tmp_path / "model.pt")
    assert (tmp_path / "model.pt").read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["model.pt", "model.pt.card.json"]


def test_a_plan_is_priced_for_the_samples_that_are_drawn() -> None:
    for scheme in ("poisson_replace", "fixed_size"):
        with pytest.raises(ParameterError, match="draws another one"):
            TrainingPlan(SecretSample(0.1, scheme), Gaussian(1.0), 10, 1.0, 20.0)


def test_a_schedule_that_follows_a_loss_is_refused_and_no_average_is_said_to_be_none() -> None:
    model, data = network(), PrivateTensors(*people(10), BUDGET)
    optimizer = torch.optim.SGD(model.parameters())
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with pytest.raises(ParameterError, match="number of steps"):
        Trainer(model, optimizer, crossed, data, STEP, schedule=plateau)
    with pytest.raises(ParameterError, match="ema_decay"):
        _ = Trainer(model, optimizer, crossed, data, STEP).average


def test_samples_are_coins_of_every_record() -> None:
    x = torch.arange(2000.0)[:, None]
    data = PrivateTensors(x, x, BUDGET)
    drawn = [
        chunk.inputs[chunk.there, 0] for chunk in view_of(data).chunks(SecretSample(0.3), 64, torch.device("cpu"), 2)
    ]
    found = torch.cat(drawn)
    assert len(set(found.tolist())) == len(found)
    assert abs(len(found) - 600) < 6 * math.sqrt(2000 * 0.3 * 0.7)
    alone = PrivateTensors(x[:1], x[:1], BUDGET)
    few = list(view_of(alone).chunks(SecretSample(1e-9), 8, torch.device("cpu"), 3))
    assert [chunk.inputs.shape for chunk in few] == [(8, 1)] * 3
    assert not any(chunk.there.any() for chunk in few)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (lambda: nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)), "GroupNorm"),
        (lambda: type("Own", (nn.LSTM,), {})(5, 2, batch_first=True), r"nn\.LSTM"),
        (lambda: nn.LSTM(5, 2), "batch_first"),
        (lambda: nn.MultiheadAttention(4, 2), "batch_first"),
        (lambda: type("Own", (nn.MultiheadAttention,), {})(4, 2, dropout=0.1, batch_first=True), "dropout"),
        (lambda: nn.InstanceNorm1d(4, affine=True, track_running_stats=True), "track_running_stats"),
    ],
)
def test_a_model_that_cannot_be_private_is_refused_before_any_charge(wrong: type[nn.Module], word: str) -> None:
    model, data = wrong(), PrivateTensors(*people(10), BUDGET)
    with pytest.raises(ParameterError, match=word):
        Trainer(
            model,
            torch.optim.SGD(model.parameters()),
            crossed,
            data,
            STEP,
        )
    assert data.ledger.balance().certified == 0


def test_a_loss_of_the_whole_batch_is_refused_before_any_charge() -> None:
    model, data = network(), PrivateTensors(*people(10), BUDGET)
    run = Trainer(model, torch.optim.SGD(model.parameters()), functional.cross_entropy, data, STEP)
    with pytest.raises(ParameterError, match=r"one loss for each sample.*") as refusal:
        run.run()
    assert "Nothing was released or spent" in str(refusal.value)
    assert data.ledger.balance().certified == 0


def test_what_fails_after_the_charge_says_so() -> None:
    def fickle(given: Tensor, wanted: Tensor) -> Tensor:
        return functional.cross_entropy(given, wanted) if data.ledger.entries() else crossed(given, wanted)

    model, data = network(), PrivateTensors(*people(10), Budget(1e3, 1e-5))
    run = Trainer(model, torch.optim.SGD(model.parameters()), fickle, data, STEP)
    with pytest.raises(ParameterError, match="The plan was charged and stays so"):
        run.run()
    assert data.ledger.balance().certified > 0


def test_records_are_neither_printed_nor_copied() -> None:
    data = PrivateTensors(torch.full((3, 1), 12345.0), torch.zeros(3), BUDGET)
    (chunk,) = view_of(data).chunks(SecretSample(1.0), 8, torch.device("cpu"))
    for one in (data, data._curator, view_of(data), chunk):
        assert "12345" not in repr(one)
        with pytest.raises(TypeError):
            pickle.dumps(one)


def test_layers_without_a_rule_are_announced() -> None:
    class Own(nn.Linear):
        """Whatever it computes."""

    model = nn.Sequential(Own(5, 4), nn.Linear(4, 2))
    with pytest.warns(SlowLayers, match="1 layer by its rule; without a rule, and so written out: 0"):
        Trainer(model, torch.optim.SGD(model.parameters()), crossed, PrivateTensors(*people(10), BUDGET), STEP)


def test_a_run_says_how_far_it_is_and_what_that_cost(tmp_path: Path) -> None:
    plan, account = TrainingPlan(SecretSample(0.1), Gaussian(4.0), 6, 1.0, 20.0), ledger(tmp_path)
    run = trainer(PrivateTensors(*people(200), account), plan, block=2)
    seen: list[tuple[int, int, str]] = []
    steps = run.steps()
    first, second = next(steps), next(steps)
    assert first.charged == second.charged == account.balance().certified
    assert first.epsilon == epsilon(plan.event_of(1), BUDGET.delta) < second.epsilon <= second.charged
    last = run.run(progress=lambda *told: seen.append(told))
    assert [told[:2] for told in seen] == [(number, 6) for number in (3, 4, 5, 6)]
    assert seen[-1][2] == f"epsilon {account.balance().certified:.4g} charged"
    for shown in (str(last), str(run), run._repr_html_()):
        assert f"step 6 of 6; epsilon {last.charged:.4g}" in shown
    assert "Gaussian noise, 4 sensitivities" in run._repr_html_()
    for page in (str(run.card()), run.card()._repr_html_()):
        assert "one record that is added or removed" in page
        assert f"epsilon {last.charged:.4g} at delta " in page


def test_an_optimizer_of_another_model_is_refused() -> None:
    other = nn.Linear(2, 2)
    with pytest.raises(ParameterError, match=r"model\.parameters"):
        Trainer(
            network(),
            torch.optim.SGD(other.parameters()),
            crossed,
            PrivateTensors(*people(10), BUDGET),
            STEP,
        )


def test_a_budget_that_no_noise_reaches_is_refused() -> None:
    with pytest.raises(ParameterError, match="delta"):
        TrainingPlan.of(Budget(1.0), batch=10, expected_size=100)
    with pytest.raises(ParameterError, match="batch"):
        TrainingPlan.of(BUDGET, batch=200, expected_size=100)
    with pytest.raises(ParameterError, match=r"epsilon 1e-12 and delta 1e-30: .* with any noise"):
        TrainingPlan.of(Budget(1e-12, 1e-30), batch=10, expected_size=100, epochs=1e6)


def test_a_loader_that_draws_batches_of_its_own_is_refused() -> None:
    records = TensorDataset(*people(10))
    for wrong in (DataLoader(records, batch_size=2, shuffle=True), records, np.zeros((10, 2)), torch.zeros(())):
        with pytest.raises(ParameterError, match="no loader does"):
            PrivateTensors(wrong, torch.zeros(10), BUDGET)  # type: ignore[arg-type]


def test_an_optimizer_that_looks_at_more_than_noisy_gradients_is_refused() -> None:
    model, data = network(), PrivateTensors(*people(10), BUDGET)
    with pytest.raises(ParameterError, match="closure"):
        Trainer(model, torch.optim.LBFGS(model.parameters()), crossed, data, STEP)
    bias = model.get_parameter("2.bias").requires_grad_(False)
    bias.grad = torch.ones(2)  # without noise
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with pytest.raises(ParameterError, match="zero_grad"):
        Trainer(model, optimizer, crossed, data, STEP)
    bias.grad = None
    Trainer(model, optimizer, crossed, data, STEP)
    assert data.ledger.balance().certified == 0


def test_a_fork_inside_a_paid_block_makes_no_step(tmp_path: Path) -> None:
    """Nor does it go on by another way; the parent makes all that were paid for."""
    account = ledger(tmp_path)
    plan = TrainingPlan(SecretSample(0.5), Gaussian(2.0), 4, 20.0, 1.0)
    private = trainer(PrivateTensors(*people(40), account), plan)
    steps = private.steps()
    next(steps)
    asked = lambda: private._permits[1].ask(private._gradient, private._gradient.mechanism)  # noqa: E731
    for use in (lambda: next(steps), private.run, private.checkpoint, asked):
        assert in_a_fork(use) == "refused"
    assert in_a_fork(lambda: private.resume({})) == "refused"
    assert in_a_fork(lambda: private.release(tmp_path / "weights")) == "refused"
    assert [step.number for step in steps] == [2, 3, 4]
    assert len(account.entries()) == 1


def test_loaders_may_fork_their_workers_while_a_trainer_is_at_work() -> None:
    x, y = people(40)
    plan = TrainingPlan(SecretSample(0.5), Gaussian(2.0), 2, 20.0, 1.0)
    private = trainer(PrivateTensors(x, y, BUDGET), plan)
    for _ in private.steps():
        batches = DataLoader(TensorDataset(x, y), 20, num_workers=1, multiprocessing_context="fork")
        assert sum(len(batch) for batch, _ in batches) == 40


def test_a_trainer_is_neither_copied_nor_pickled() -> None:
    private = trainer(PrivateTensors(*people(40), BUDGET), STEP)
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            way(private)


def test_a_permit_that_was_given_pays_for_the_steps_of_its_plan_and_no_more(tmp_path: Path) -> None:
    account = ledger(tmp_path)
    data, plan = PrivateTensors(*people(200), account), TrainingPlan(SecretSample(0.1), Gaussian(8.0), 3, 1.0, 1.0)
    with data.permit(plan.event, "train and more") as permit:
        trainer(data, plan, permit=permit).run()
        with pytest.raises(UnplannedRelease):
            trainer(data, plan, permit=permit).run()
        permit.commit(b"weights")
    (entry,) = account.entries()
    assert (entry.purpose, entry.event, entry.committed) == ("train and more", plan.event, True)


def test_a_permit_of_another_account_is_refused() -> None:
    plan = TrainingPlan(SecretSample(0.1), Gaussian(8.0), 3, 1.0, 1.0)
    data, others = (PrivateTensors(*people(200), BUDGET) for _ in range(2))
    with (
        others.permit(plan.event, "train") as permit,
        pytest.raises(ParameterError, match="another account than that of the data"),
    ):
        trainer(data, plan, permit=permit)
