"""The files that make a site a service: they start what the command takes, and systemd reads them without a word."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from discreet.core.budget import Budget
from discreet.service.cli.command import parser
from discreet.service.server.new_site import FILE, new_site
from discreet.service.server.site_file import read_site

HOME = Path(__file__).resolve().parents[2]
PLACE = HOME / "examples" / "serving"


def unit() -> configparser.ConfigParser:
    found = configparser.ConfigParser(interpolation=None, strict=True)
    found.optionxform = str  # type: ignore[assignment, method-assign]
    found.read_string((PLACE / "discreet.service").read_text())
    return found


def container() -> dict[str, str]:
    lines = (PLACE / "Containerfile").read_text().splitlines()
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines if line and not line.startswith("#")}


def test_the_unit_starts_what_the_command_takes() -> None:
    service = unit()["Service"]
    program, *words = service["ExecStart"].split()
    assert Path(program).name == "discreet"
    served = parser().parse_args(words)
    assert Path(served.file).parent == Path(service["WorkingDirectory"]) == Path(service["ReadWritePaths"])


def test_the_unit_allows_no_more_than_a_site_needs() -> None:
    service = unit()["Service"]
    assert (service["NoNewPrivileges"], service["ProtectSystem"], service["UMask"]) == ("yes", "strict", "0077")
    assert service["User"] not in ("", "root")
    assert int(service["LimitNOFILE"]) > 1024 + 512  # lines, and files of ledgers and workers


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    text = (PLACE / "discreet.service").read_text()
    for place in (unit()["Service"]["ExecStart"].split()[0], "/srv/site"):
        text = text.replace(place, "/bin/true" if place.endswith("discreet") else str(tmp_path))
    path = tmp_path / "discreet.service"
    path.write_text(text.replace("User=discreet", "User=root"))
    found = subprocess.run(["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr.strip()) == (0, "")


def test_the_container_starts_what_the_command_takes_as_nobody_of_importance(tmp_path: Path) -> None:
    said = container()
    program, *words = json.loads(said["ENTRYPOINT"])
    assert (program, said["USER"], said["WORKDIR"]) == ("discreet", "discreet", "/site")
    assert parser().parse_args(words).file == "/site/site.toml"
    (extras,) = re.findall(r"discreet\[([^]]+)\]", said["RUN"])
    known = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*extras.split(",")} <= known.keys()
    new_site(tmp_path, Budget(1.0))
    assert read_site(tmp_path / FILE).port == int(said["EXPOSE"])
