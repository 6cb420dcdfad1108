"""Who may draw what: agents and invented users from numpy, curators and counters from `discreet.noise` alone."""

from __future__ import annotations

from pathlib import Path

import discreet

ROOM = Path(discreet.__file__).parent / "sequential"
CHOOSE = {"environments.py", "exp3.py", "linear_arms.py", "simulation.py", "thompson.py"}


def test_only_agents_and_invented_users_draw_from_numpy() -> None:
    texts = {path: path.read_text() for path in ROOM.rglob("*.py")}
    assert {path.name for path, text in texts.items() if "np.random" in text} == CHOOSE
    for path, text in texts.items():
        assert "np.random" not in text or "\nfrom discreet.noise" not in text, path
