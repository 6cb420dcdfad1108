"""A plugin for pytest: a counterexample is enough, and need not be made simpler."""

from __future__ import annotations


def pytest_configure() -> None:
    """Leave out what takes longest once a test fails."""
    from hypothesis import Phase, settings

    settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutants")
