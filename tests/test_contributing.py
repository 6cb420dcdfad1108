"""The examples of CONTRIBUTING work as they stand."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from discreet.deep.layers.rule import _RULES, load_rules
from discreet.questions.recipe import RECIPES

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text()
FILES = dict(re.findall(r"\*\*`(?:src/)?([\w/]+)\.py`\*\*\n\n```python\n(.*?)```", PAGE, flags=re.DOTALL))


def test_every_example_is_a_file_and_its_test_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(FILES) == 18
    load_rules()
    monkeypatch.setattr("discreet.questions.recipe.RECIPES", dict(RECIPES))
    monkeypatch.setattr("discreet.deep.layers.rule._RULES", dict(_RULES))
    for path, code in FILES.items():
        name = path.replace("/", ".")
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(code, path, "exec"), vars(module))
        for claim in [value for key, value in vars(module).items() if key.startswith("test_")]:
            claim()
