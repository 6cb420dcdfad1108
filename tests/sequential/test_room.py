"""Rules of this room. Agents and invented users draw from numpy, curators and counters from `discreet.noise` alone."""

from __future__ import annotations

from pathlib import Path

import discreet
import discreet.sequential

ROOM = Path(discreet.__file__).parent / "sequential"
CHOOSE = {"environments.py", "randomized_agents.py", "simulation.py"}


def test_only_agents_and_invented_users_draw_from_numpy() -> None:
    texts = {path: path.read_text() for path in ROOM.rglob("*.py")}
    assert {path.name for path, text in texts.items() if "np.random" in text} == CHOOSE
    for path, text in texts.items():
        assert "np.random" not in text or "\nfrom discreet.noise" not in text, path


def test_every_public_name_can_be_loaded() -> None:
    assert len(discreet.sequential.__all__) > 30
    assert all(getattr(discreet.sequential, name) is not None for name in discreet.sequential.__all__)
