"""Really adds each example of CONTRIBUTING, right and wrong, in a copy of the tree, and asks the walk about it.

    python -m tests.additions [word ...]

An example is two files. Added as they stand, what `tests/conformance` says about them has to hold. With one line of
the first made wrong, it has to be refused by the walk alone: the second file says how it is tried, and its own claims
are not run. With words, only the examples that have one of them in a path.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = re.compile(r"\*\*`([\w/]+)\.py`\*\*\n\n```python\n(.*?)```", flags=re.DOTALL)
Mistake = tuple[str, str]
MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "questions/above": (('Bound("l1", 1.0', 'Bound("l1", 0.5'),),
    "statistics/moments/count_above": (
        ("OneSum(of, name", "OneSum(replace(of, budget=replace(of.budget, epsilon=2 * of.budget.epsilon)), name"),
        ("OneSum(of, name", "OneSum(replace(of, key=None), name"),
        ("        Public. Values above", "        Values above"),
    ),
    "mechanisms/selection/noisy_sign": (
        ("Laplace(self.multiplier).release", "Laplace(self.multiplier / 1.5).release"),
        ("return LaplaceLoss(self.multiplier)", "return LaplaceLoss(2.0)"),
        ("        Public. Noise scale", "        Noise scale"),
    ),
    "learners/mean_regressor": (
        ("return self.noise.event", "return replace(self.noise, multiplier=1e3).event"),
        ('return {"mean_"', 'return {"n_": 1, "mean_"'),
    ),
    "sequential/counters/plain_counter": (
        ("updates.drawn(self._bits, (size,))", "updates.drawn(self._bits, (size,)) // 8"),
        ("self.neighbors, factor)", "self.neighbors, factor / 2)"),
        ("self.neighbors, factor)", "self.neighbors, factor * 2 / 3)"),
        ("steps, updates.drawn(self._bits, (size,)))", "steps, np.zeros(size, np.int64))"),
        ("        exact = Exact(", "        self.seen = given\n        exact = Exact("),
        ('"noisy": self._noisy}', '"noisy": 0 * self._noisy}'),
    ),
    "local/oracles/one_question": (
        ("miss_chance(self.epsilon)", "miss_chance(self.epsilon * 1.5)"),
        ("_whole_below(reports, 2 * self.size)", "_whole_below(reports, 2**20)"),
    ),
    "deep/layers/prelu": (("products = slopes", "products = 0.5 * slopes"),),
    "trust/sources/json_lines": (
        ("yield bounded(", "yield (lambda rows, *_: rows)("),
        ("if isinstance(found, dict) else {}", 'if isinstance(found["kind"], str) else {}'),
    ),
    "trust/named_sums": (
        ("ask(question, mechanism)", "ask(question, replace(mechanism, multiplier=mechanism.multiplier / 1.5))"),
        ("return self._trust.reports", "return self._trust.reports / 2"),
    ),
    "attacks/membership/gap_attack": (
        ("return target.right(X, y)", "return X[:, 0]"),
        ("else None", 'else Unfit("no")'),
        ("Prepared(cls(material.data), material.model)", "Prepared(cls(material.data), material.data)"),
    ),
}
"""What is made wrong in each example, by its place: noise, a bound, a price, a name, a state or a record."""


@dataclass(frozen=True)
class Example:
    """An example of CONTRIBUTING.

    Parameters
    ----------
    place : str
        Of its file in the package, without its ending.
    code, test : str
        The texts of its two files.
    needs : tuple of Example
        What it imports.
    """

    place: str
    code: str
    test: str
    needs: tuple[Example, ...] = ()

    @property
    def wrong(self) -> list[str]:
        """The same with one line wrong each; it may need another import."""
        return [self._with(*mistake) for mistake in MISTAKES[self.place]]

    def _with(self, old: str, new: str) -> str:
        assert self.code.count(old) == 1, f"{self.place} has not one {old!r}"
        more = "from dataclasses import replace\n" if "replace(" in new else ""
        return self.code.replace(old, new).replace("annotations\n", f"annotations\n{more}", 1)

    def files(self, code: str) -> dict[str, str]:
        """Their paths and texts, with those that it needs."""
        room, _, name = self.place.rpartition("/")
        own = {f"src/discreet/{self.place}.py": code, f"tests/{room}/test_{name}.py": self.test}
        return own | {path: text for other in self.needs for path, text in other.files(other.code).items()}


def examples(page: str | None = None) -> list[Example]:
    """Those of CONTRIBUTING, in their order."""
    text = (ROOT / "CONTRIBUTING.md").read_text() if page is None else page
    found: list[Example] = []
    pairs = iter(FILES.findall(text))
    for (path, code), (mirror, test) in zip(pairs, pairs, strict=True):
        place = path.removeprefix("src/discreet/")
        assert mirror == f"tests/{place.rpartition('/')[0]}/test_{place.rpartition('/')[2]}", mirror
        needs = tuple(one for one in found if f"discreet.{one.place.replace('/', '.')} import" in code)
        found.append(Example(place, code, test, needs))
    return found


def main(words: list[str]) -> int:
    """Add all that have one of these words, right and wrong; all, without words."""
    wanted = [one for one in examples() if not words or any(word in one.place for word in words)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        for one in wanted:
            for how, code in (("as it stands", one.code), *(("made wrong", code) for code in one.wrong)):
                fine, seconds, words_of = tried(copy, one, code)
                expected = fine == (how == "as it stands")
                failed += not expected
                said = ("passes" if fine else "refused") + ("" if expected else ", WHICH IS WRONG")
                print(f"{one.place:36}{how:14}{said:9}{seconds:6.0f} s  {words_of}", flush=True)
    return failed


def copied(folder: Path) -> Path:
    """The tree, without what is built."""
    for name in ("src", "tests", "docs", "conftest.py", "pyproject.toml", "CONTRIBUTING.md", "README.md"):
        source = ROOT / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / name, ignore=ignored) if source.is_dir() else shutil.copy(
            source, folder / name
        )
    return folder


def tried(copy: Path, one: Example, code: str) -> tuple[bool, float, str]:
    """Whether the walk has nothing to say, how many seconds of a processor it took, and what it says."""
    files = one.files(code)
    for path, text in files.items():
        (copy / path).write_text(text)
    room = ["--room", one.place, "--strict-room"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *room]
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}{os.pathsep}{copy}", "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([*command, "tests/conformance"], cwd=copy, env=environment, capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    for path in files:
        (copy / path).unlink()
    said = re.findall(r"^(?:FAILED|ERROR) tests/conformance/(.*)$", done.stdout, flags=re.MULTILINE)
    passed = re.findall(r"\d+ passed", done.stdout)
    assert done.returncode in (0, 1, 2), done.stdout + done.stderr
    return done.returncode == 0, seconds, (said or passed or [done.stdout[-300:]])[0][:120]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
