"""Training whose updates are clipped and noised, and charged to a ledger before the first leaves the client."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event, Repeated
from discreet.core.grid import Array
from discreet.crypto.gelu_net.gelu_client import GeluClient
from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.question import BoundedSum
from discreet.trust.private_data import PrivateData

ASKED = "noisy training"


@dataclass(frozen=True)
class NoisyTraining:
    """Steps of descent, each by the clipped gradients of all records with Gaussian noise.

    A step asks one bounded sum of the records: `of` sends them through the encrypted network and gives the gradient of
    each. So the client's own ledger pays for all steps, once, before the first; the server learns releases alone.

    Parameters
    ----------
    steps : int
        Public. How many.
    multiplier : float
        Public. Noise in units of how far one record can move a sum.
    clip : float
        Public. The longest gradient of a record, in l2.

    Guarantee
    ---------
    `event`, for neighbors that replace one record, towards a server that computes as agreed: `GaussianLoss(multiplier)`
    for each step (Abadi et al. 2016, without samples), as long as encryption hides the records. A server that mixes
    records in a slot, which it could, moves a sum farther than that.

    Examples
    --------
    >>> NoisyTraining(steps=20, multiplier=10.0).event
    Repeated(event=GaussianLoss(multiplier=10.0), times=20)
    """

    steps: int
    multiplier: float
    clip: float = 1.0

    def __post_init__(self) -> None:
        check_whole(ASKED, "steps", self.steps)
        check_positive(ASKED, "clip", self.clip)
        self.mechanism.event  # noqa: B018 - a multiplier that cannot be is refused here

    @property
    def mechanism(self) -> Gaussian:
        return Gaussian(self.multiplier)

    @property
    def event(self) -> Event:
        """The price of all steps together."""
        return Repeated(self.mechanism.event, self.steps)

    def run(self, client: GeluClient, data: PrivateData) -> None:
        """Train the server's network on these records, whose last column is the class.

        Parameters
        ----------
        client : GeluClient
            Its session, with noisy updates.
        data : PrivateData
            The records, held by a curator, with replaced neighbors: the server sees how many there are. What was
            charged stays so if the line breaks: what was released until then is in the server's weights.
        """
        records = self._checked(client, data)
        with data.permit(self.event, ASKED) as permit:
            for _ in range(self.steps):
                total = permit.ask(_question(client, data, self.clip), self.mechanism)
                client.update(list(_by_layers(client.net, np.asarray(total) / records)))

    def _checked(self, client: GeluClient, data: PrivateData) -> int:
        """How many records there are, which the server sees; refused where that is not public."""
        if client.update_kind != "noisy" or client.purpose != "train":
            remedy = "Open the session with `NoisedUpdates()` and the purpose 'train'."
            raise ParameterError(ASKED, "the session is for other updates", remedy)
        if data.public_size is None:
            obstacle = "the server sees how many records there are, and the data set hides it"
            raise NotPermitted(ASKED, obstacle, "Make the data set with neighbors that are replaced.")
        if len(data.schema.features) != client.net.layers[0].inputs + 1:
            obstacle = f"there are {len(data.schema.features)} columns"
            raise ParameterError(ASKED, obstacle, f"Give {client.net.layers[0].inputs} inputs and a class.")
        return data.public_size


def _question(client: GeluClient, data: PrivateData, clip: float) -> BoundedSum:
    """The sum of all clipped gradients, asked once; what is missing counts as zero."""
    net, columns, part = client.net, data.schema.features, count()

    def of(rows: Array) -> Array:
        inputs, classes = np.nan_to_num(rows[:, :-1]), np.nan_to_num(rows[:, -1])
        wanted = np.clip(np.rint(classes), 0, net.layers[-1].outputs - 1).astype(np.int64)
        most = net.precision.largest_input
        parts = [
            client.record_gradients(np.clip(inputs[at : at + batch], -most, most), wanted[at : at + batch], next(part))
            for batch in (client.most_rows,)
            for at in range(0, len(rows), batch)
        ]
        return np.concatenate(parts) if parts else np.empty((0, net.weights))

    return BoundedSum(of, Bound("l2", clip), columns, width=net.weights)


def _by_layers(net: GeluNet, numbers: Array) -> Iterator[Array]:
    """One row of numbers as a matrix for each layer."""
    place = 0
    for layer in net.layers:
        count = (layer.fan_in + 1) * layer.channels
        yield numbers[place : place + count].reshape(layer.fan_in + 1, layer.channels)
        place += count
