"""Plans at the corners of what the accountant can be asked, known or drawn at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

from discreet.core.events import Event, GaussianLoss, Repeated, Sampled


@dataclass(frozen=True)
class Plan:
    """Samples with Gaussian noise."""

    rate: float
    multiplier: float
    times: int
    delta: float

    @classmethod
    def drawn(cls, chance: random.Random) -> Plan:
        smallest = -16 if chance.random() < 0.8 else -120
        return cls(
            10 ** chance.uniform(-7, -0.05),
            10 ** chance.uniform(-0.35, 1.3),
            int(10 ** chance.uniform(0, 6)),
            10 ** chance.uniform(smallest, -2),
        )

    @property
    def event(self) -> Event:
        return Repeated(Sampled(GaussianLoss(self.multiplier), self.rate), self.times)


CORNERS = (
    Plan(1e-4, 1.0, 5, 1e-6),
    Plan(1e-6, 0.6, 4, 1e-9),
    Plan(2.56e-7, 1.389, 641_829, 1.4e-84),
    Plan(2.93e-5, 0.7554, 5, 4e-5),
    Plan(3.54e-4, 0.593, 589_689, 1e-34),
)
