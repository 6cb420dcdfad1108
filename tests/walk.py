"""Walks the paths of four kinds of user from nothing: `python -m tests.walk` (or `make walk`).

A wheel is built and installed into an empty virtual environment, and the scripts of `examples/walk` run there, in an
empty folder and with every warning an error. What the library depends on is lent by the environment that runs this;
with `--fresh` it is installed too, as a user would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "examples" / "walk").glob("*.py"))
EXTRAS = "frames,plots"
WHERE = "import discreet, pathlib; print(pathlib.Path(discreet.__file__).parent)"
RUN = """import os, runpy, sys
for script in sys.argv[1:]:
    os.chdir(os.path.splitext(os.path.basename(script))[0])
    runpy.run_path(script, run_name="__main__")
    os.chdir("..")
"""
ALONE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
}


def installed(folder: Path, fresh: bool = False) -> Path:
    """The interpreter of a new virtual environment in this folder, into which a wheel of this tree was installed."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    _run([*pip, "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT)], folder)
    (wheel,) = folder.glob("discreet-*.whl")
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], folder)
    python = folder / "venv" / "bin" / "python"
    if not fresh:
        (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
        (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    what = [f"{wheel}[{EXTRAS}]"] if fresh else ["--no-deps", str(wheel)]
    _run([*pip, "--python", str(python), "install", "--quiet", "--no-compile", *what], folder)
    assert Path(_run([str(python), "-c", WHERE], folder).strip()).is_relative_to(folder), "the source tree is imported"
    return python


def walked(python: Path, scripts: Sequence[Path], folder: Path) -> str:
    """What scripts print, one after the other in one process, each in a folder of its own; any warning is an error."""
    for script in scripts:
        (folder / script.stem).mkdir()
    return _run([str(python), "-W", "error", "-c", RUN, *map(str, scripts)], folder)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=ALONE, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Walk all paths, and show what each prints and how long it takes."""
    with tempfile.TemporaryDirectory() as place:
        python = installed(Path(place), fresh="--fresh" in sys.argv)
        for script in SCRIPTS:
            begun = time.monotonic()
            printed = walked(python, [script], Path(place))
            print(f"== {script.stem}\n{printed}-- {time.monotonic() - begun:.1f} s\n", flush=True)


if __name__ == "__main__":
    main()
