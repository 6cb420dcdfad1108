"""Train a neural network with privacy: a plain module, a plain optimizer, and a loop over steps that are paid for."""

import torch
from torch import nn

from discreet import Budget
from discreet.deep import PrivateTensors, Trainer, TrainingPlan


def main() -> dict[str, float]:
    """Two rings that no line separates; how many of other points are told apart, and what that cost."""
    torch.manual_seed(0)
    points, budget = 2 * torch.rand(24_000, 2) - 1, Budget(1.0, 1e-5)
    inside = (points.norm(dim=1) < 0.8).long()
    data = PrivateTensors(points[:20_000], inside[:20_000], budget)
    plan = TrainingPlan.of(budget, batch=2000, expected_size=20_000, epochs=10)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    trainer = Trainer(model, optimizer, nn.CrossEntropyLoss(reduction="none"), data, plan)
    for step in trainer.steps():
        if step.number % 20 == 0:
            print(f"{step}, of which {step.epsilon:.3f} was needed so far")
    right = float((model(points[20_000:]).argmax(dim=1) == inside[20_000:]).float().mean())
    print(f"{right:.3f} are right\n{trainer.card()}")
    return {"right": right, "epsilon": trainer.card().epsilon}


if __name__ == "__main__":
    main()
