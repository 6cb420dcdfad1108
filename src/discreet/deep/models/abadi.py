"""The multi-layer perceptron of the paper that brought private gradient descent to networks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.accounting.calibration import calibrate
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, Repeated
from discreet.core.ledger import Ledger
from discreet.core.mechanism import SecretSample
from discreet.core.receipt import Receipt
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.deep.questions.sampled_gradient import SampledGradient, WholeGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.released_weights import digest
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.holder import Described
from discreet.trust.permit import Permit

ASKED = "train as Abadi et al. 2016"


@dataclass(frozen=True)
class _Whole:
    """Projection and training together, of which the noise of the training is calibrated."""

    projection: Gaussian
    sample: SecretSample
    steps: int
    multiplier: float = 1.0
    calibrated: ClassVar[str] = "multiplier"

    @property
    def event(self) -> Event:
        training = Repeated(self.sample.event(Gaussian(self.multiplier).event), self.steps)
        return Composed((self.projection.event, training))


@dataclass(frozen=True)
class AbadiPlan:
    """A noisy projection of the inputs, then steps of private gradient descent: charged together.

    Parameters
    ----------
    projection : Gaussian
        Public. The noise of the products of inputs, which have length one.
    training : TrainingPlan
        Public. Lots, steps and noise.

    Examples
    --------
    >>> plan = AbadiPlan.of(Budget(2.0, 1e-5), expected_size=60_000)
    >>> plan.training.steps, round(plan.training.noise.multiplier, 1)
    (2000, 2.0)
    """

    projection: Gaussian
    training: TrainingPlan

    @classmethod
    def of(
        cls,
        budget: Budget,
        *,
        expected_size: int,
        lot: int = 1200,
        epochs: float = 40.0,
        clip: float = 1.0,
        projection: float = 7.0,
    ) -> AbadiPlan:
        """The plan with the least noise of training that fits a budget.

        Parameters
        ----------
        budget : Budget
            Public. What everything may cost.
        expected_size : int
            Public. How many records there are, about; their number is secret.
        lot : int
            Public. How many records a step looks at, on average.
        epochs : float
            Public. How often a step looks at each record, on average.
        clip : float
            Public. The greatest length of the gradient of a record.
        projection : float
            Public. The noise multiplier of the projection; they took 16, 7 and 4 for epsilon 0.5, 2 and 8.
        """
        loose = TrainingPlan.of(Budget(1e3, 0.5), batch=lot, expected_size=expected_size, epochs=epochs, clip=clip)
        given = Gaussian(projection)
        whole = calibrate(_Whole(given, loose.sample, loose.steps), budget)
        return cls(given, replace(loose, noise=Gaussian(whole.multiplier)))

    @property
    def event(self) -> Event:
        """What everything costs."""
        return Composed((self.projection.event, self.training.event))


class UnitLength(nn.Module):
    """Vectors of length one."""

    def forward(self, x: Tensor) -> Tensor:
        """Each input by its length; one that is not finite, or zero, becomes zero."""
        return functional.normalize(torch.nan_to_num(x.flatten(1), posinf=0.0, neginf=0.0), dim=1)


@dataclass(frozen=True)
class AbadiNetwork:
    """A trained network, and what it cost.

    Parameters
    ----------
    model : Sequential
        Released. From inputs to a score for each class.
    receipt : Receipt
        The whole plan, its key and the head of the ledger.
    """

    model: nn.Sequential
    receipt: Receipt


def abadi_network(
    inputs: Tensor,
    targets: Tensor,
    plan: AbadiPlan,
    ledger: Ledger | Budget,
    *,
    classes: int,
    components: int = 60,
    hidden: int = 1000,
    learning_rate: float = 4.0,
    chunk: int = 1200,
    bits: Bits | None = None,
) -> AbadiNetwork:
    """Project inputs onto their private principal components, and train one hidden layer on top.

    Parameters
    ----------
    inputs : Tensor of shape (samples, ...)
        The records, as vectors; each is brought to length one.
    targets : Tensor of shape (samples,)
        Their classes, from 0 on; a record of another class counts for nothing.
    plan : AbadiPlan
        Public. Noise and steps.
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory, for as many plans as it pays.
    classes, components, hidden : int
        Public. How many classes, principal components and hidden units.
    learning_rate : float
        Public. Of plain gradient descent; it falls linearly to a tenth.
    chunk : int
        Public. How many records are computed at a time.
    bits : Bits, optional
        Where samples and noise come from; anything but the system's makes a model that is not private.

    Guarantee
    ---------
    `plan.event`, for neighbors that differ by one record, added or removed. Abadi et al. 2016, Algorithm 1 and
    Section 4 (Differentially Private PCA): one record moves the sum of products by a matrix of length one. The whole
    plan is charged before anything is computed; `as_published.moments_epsilon` is their price, `accounting.epsilon` the
    tight one.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> x = torch.randn(2000, 8)
    >>> plan = AbadiPlan.of(Budget(4.0, 1e-5), expected_size=2000, lot=400, epochs=2)
    >>> network = abadi_network(
    ...     x, (x[:, 0] > 0).long(), plan, Budget(4.0, 1e-5), classes=2, components=4, hidden=16
    ... )
    >>> tuple(network.model(x).shape)
    (2000, 2)
    """
    for name, value in (("classes", classes), ("components", components), ("hidden", hidden), ("chunk", chunk)):
        check_whole(ASKED, name, value)
    known = (targets >= 0) & (targets < classes)
    inputs, targets = inputs[known], targets[known]
    whole = PrivateTensors(inputs, targets, ledger, bits=bits)  # checks the account
    wide = inputs.flatten(1).shape[1]
    if components > wide:
        obstacle = f"there are {wide} numbers in a record, and {components} components"
        raise ParameterError(ASKED, obstacle, "Ask for at most as many.")
    with whole.permit(Described(plan.event, f"{classes} {components} {hidden}"), ASKED) as permit:
        projection = _components(whole, permit, wide, plan.projection, components, chunk)
        sizes = (components, hidden, classes)
        network = _trained(whole, permit, projection, sizes, plan.training, learning_rate, chunk)
        model = nn.Sequential(UnitLength(), projection, *network)
        permit.commit(digest(model.state_dict()))
    return AbadiNetwork(model, permit.receipt)


def _trained(
    whole: PrivateTensors,
    permit: Permit,
    projection: nn.Linear,
    sizes: tuple[int, int, int],
    plan: TrainingPlan,
    learning_rate: float,
    chunk: int,
) -> nn.Sequential:
    """One hidden layer, trained on the coordinates of all records."""
    components, hidden, classes = sizes
    device = projection.weight.device
    network = nn.Sequential(nn.Linear(components, hidden), nn.ReLU(), nn.Linear(hidden, classes)).to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=learning_rate)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, plan.steps)
    blank = whole.blank(0, device)
    like = projection(UnitLength()(blank.inputs)), blank.targets

    def coordinates(view: Any) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            return projection(UnitLength()(view.inputs)), view.targets

    data = RecordsAsTensors(coordinates, like, whole.ledger)
    each = nn.CrossEntropyLoss(reduction="none")
    Trainer(network, optimizer, each, data, plan, chunk=chunk, schedule=falling, permit=permit).run()
    return network


def _components(
    whole: PrivateTensors, permit: Permit, wide: int, noise: Gaussian, components: int, chunk: int
) -> nn.Linear:
    """Coordinates along the principal components of a noisy sum of products, centered, and about one in size.

    The gradient of x'Mx by M is the product xx': so the sum is what one step of gradient descent asks. Inputs that are
    not centered have their mean near the first component; how far out follows from its share in the sum.
    """
    form = nn.Linear(wide, wide, bias=False).to(whole.device)
    like = torch.zeros(0, wide, device=whole.device)

    def unit(view: Any) -> tuple[Tensor, Tensor]:
        found = UnitLength()(view.inputs)
        return found, found

    data = RecordsAsTensors(unit, (like, like), whole.ledger)
    plan = TrainingPlan(SecretSample(1.0), noise, 1, 1.0, 1.0)
    gradient = SampledGradient(form, lambda given, wanted: (given * wanted).sum(dim=1), data, plan, chunk)
    gradient.move(permit.ask(WholeGradient(gradient), gradient.noise))
    assert form.weight.grad is not None
    products = form.weight.grad.double()
    found = torch.linalg.eigh((products + products.T) / 2)
    shares = (found.eigenvalues.flip(0) / products.trace().clamp(min=1.0)).clamp(0.0, 1.0)[:components]
    axes = found.eigenvectors.flip(1).T[:components]
    axes = axes * torch.where(axes.sum(dim=1, keepdim=True) < 0, -1.0, 1.0)  # to where pixels are bright
    size = (components / shares[1:].sum().clamp(min=0.01)).sqrt()
    projection = nn.Linear(wide, components).to(whole.device).requires_grad_(False)
    projection.weight.copy_(size * axes)
    projection.bias.zero_()
    projection.bias[0] = -size * shares[0].sqrt()
    return projection
