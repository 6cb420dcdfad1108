"""`discreet rappor`: made-up values, reports and their decoding, in CSV files.

The parameters are in google/rappor's form, a line of names `k,h,m,p,q,f` and one of numbers; reports have the columns
`cohort` and `irr`, of google/rappor's simulation, the highest bit first. Files are read and written block by block.
"""

from __future__ import annotations

import contextlib
import csv
import os
from argparse import Namespace
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from discreet.core.checks import check_one_of, check_whole
from discreet.core.errors import MissingExtra, ParameterError
from discreet.display.plain import plain
from discreet.ledger.own_file import create_own, read_own
from discreet.local.aggregator import Aggregator
from discreet.local.randomizer import Reports
from discreet.local.rappor.decoded_strings import DecodedStrings
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_client import BLOCK, client_reports, client_secret
from discreet.noise.system_bits import system_bits
from discreet.service.cli.saying import put, say

NAMES = {"k": "bits", "h": "hashes", "m": "cohorts", "p": "p", "q": "q", "f": "f"}
MASTER, LONGEST = 32, 4096  # bytes of a secret that clients' own are derived from
DISTRIBUTIONS = ("exp", "unif", "zipf")


def simulate(arguments: Namespace) -> int:
    """Write values that are made up, so that the other two actions can be tried."""
    check_one_of("rappor simulate", "--distribution", arguments.distribution, DISTRIBUTIONS)
    check_whole("rappor simulate", "--clients", arguments.clients, most=10**9)
    check_whole("rappor simulate", "--strings", arguments.strings, most=10**6)
    folder, rng = Path(arguments.folder), np.random.default_rng(arguments.seed)
    rank = np.arange(1, arguments.strings + 1)
    weights = {"exp": np.exp(-5 * rank / len(rank)), "unif": np.ones(len(rank)), "zipf": 1 / rank}[
        arguments.distribution
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "values.csv", "x", encoding="utf-8") as file:
            file.write("client,value\n")
            for start in range(0, arguments.clients, BLOCK):
                size = min(BLOCK, arguments.clients - start)
                drawn = rng.choice(arguments.strings, size, p=weights / weights.sum()).tolist()
                file.writelines(f"c{start + place},v{value + 1}\n" for place, value in enumerate(drawn))
        names = [f"v{number + 1}" for number in range(2 * arguments.strings)]
        (folder / "candidates.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
        setup = Rappor()
        numbers = ",".join(f"{getattr(setup, name)}" for name in NAMES.values())
        (folder / "params.csv").write_text(f"{','.join(NAMES)}\n{numbers}\n", encoding="utf-8")
    except OSError as why:
        raise ParameterError(f"write to {folder}", str(why.strerror or why), "Choose another folder.") from why
    done = f"Wrote values.csv, candidates.txt and params.csv to {plain(str(folder))}; half of the candidates occur."
    say(arguments, done, wrote=str(folder))
    return 0


def encode(arguments: Namespace) -> int:
    """Write one report for each line of values."""
    rappor, master = read_params(arguments.params), _secret(Path(arguments.secret))
    part, n = Path(f"{arguments.out}.{os.getpid()}.part"), 0
    try:
        with open(part, "w", encoding="utf-8") as out:
            out.write("cohort,irr\n")
            for clients, values in _blocks(arguments.values, "client", "value"):
                secrets = [client_secret(master, client) for client in clients]
                for reports in client_reports(rappor, values, secrets, budget=arguments.budget):
                    out.writelines(_lines(rappor, reports))
                    n += len(reports)
        os.replace(part, arguments.out)
    except OSError as why:
        raise ParameterError(f"write {arguments.out}", str(why.strerror or why), "Choose another place.") from why
    finally:
        part.unlink(missing_ok=True)
    price = {"reports": n, "epsilon_one": rappor.epsilon_one, "epsilon_infinity": rappor.epsilon_infinity}
    told = f"epsilon {rappor.epsilon_one:.4g} for each, {rappor.epsilon_infinity:.4g} for any number of one value"
    say(arguments, f"Wrote {n} reports: {told}; another value costs as much again.", **price)
    return 0


def decode(arguments: Namespace) -> int:
    """Print the strings that were found."""
    rappor = read_params(arguments.params)
    collector = Aggregator(rappor)
    for cohorts, bits in _blocks(arguments.reports, "cohort", "irr"):
        collector.add(_reports(rappor, cohorts, bits))
    correction = "bonferroni" if arguments.bonferroni else "benjamini-hochberg"
    candidates = _read(arguments.candidates).split()
    found: DecodedStrings = collector.estimate(
        candidates=list(dict.fromkeys(candidates)), level=arguments.level, correction=correction, split=arguments.split
    )
    if arguments.plot is not None:
        _draw(found, arguments.plot)
    put(found.to_json() if arguments.json else str(found))
    return 0


def read_params(path: str) -> Rappor:
    """The parameters in a file of google/rappor's form."""
    lines = list(csv.reader(_read(path).splitlines()))
    try:
        given = dict(zip(lines[0], lines[1], strict=True))
        whole = {NAMES[name]: int(given[name]) for name in ("k", "h", "m")}
        chances = {NAMES[name]: float(given[name]) for name in ("p", "q", "f")}
    except (IndexError, KeyError, ValueError) as why:
        remedy = "Give a line k,h,m,p,q,f and a line of numbers."
        raise ParameterError(f"read {path}", f"it has no parameters ({why})", remedy) from why
    return Rappor(**whole, **chances)  # type: ignore[arg-type]


def _lines(rappor: Rappor, reports: Reports) -> Iterator[str]:
    rows = np.ascontiguousarray(rappor.bits_of(reports)[:, ::-1] + ord("0"))
    texts = rows.tobytes().decode()
    for place, cohort in enumerate(rappor.cohort_of(reports).tolist()):
        yield f"{cohort},{texts[place * rappor.bits : (place + 1) * rappor.bits]}\n"


def _reports(rappor: Rappor, cohorts: list[str], texts: list[str]) -> Reports:
    wrong = [text for text in texts if len(text) != rappor.bits or text.strip("01")]
    if wrong or not all(cohort.isdecimal() and int(cohort) < rappor.cohorts for cohort in cohorts):
        about = f"{wrong[0]!r} is not {rappor.bits} bits" if wrong else f"a cohort is not one of {rappor.cohorts}"
        raise ParameterError("decode reports", about, "Give the parameters that they were made with.")
    rows = np.frombuffer("".join(texts).encode(), np.uint8).reshape(len(texts), rappor.bits) - ord("0")
    return rappor.packed(np.array([int(cohort) for cohort in cohorts]), rows[:, ::-1])


def _blocks(path: str, first: str, second: str) -> Iterator[tuple[list[str], list[str]]]:
    """Two columns of a CSV file, some rows at a time."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if not {first, second} <= set(reader.fieldnames or ()):
                raise ParameterError(f"read {path}", f"it has no columns {first} and {second}", "Give a CSV file.")
            while block := list(islice(reader, BLOCK)):
                if any(row[first] is None or row[second] is None for row in block):
                    raise ParameterError(f"read {path}", "a line is too short", "Give all columns in each line.")
                yield [row[first] for row in block], [row[second] for row in block]
    except (OSError, UnicodeDecodeError, csv.Error) as why:
        raise ParameterError(f"read {path}", str(why), "Give a CSV file in UTF-8.") from why


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise ParameterError(f"read {path}", str(why), "Give a text file in UTF-8.") from why


def _secret(path: Path) -> bytes:
    """The secret that clients' own are derived from; drawn and kept where there is none."""
    try:
        if not path.exists():
            with contextlib.suppress(FileExistsError):
                create_own(path, system_bits().words(MASTER // 8).tobytes())
        return read_own(path, f"secret {path}", MASTER, LONGEST)
    except OSError as why:
        raise ParameterError(f"secret {path}", str(why.strerror or why), "Choose another file.") from why


def _draw(found: DecodedStrings, path: str) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as why:
        raise MissingExtra("rappor decode --plot", "matplotlib is not installed", "Install discreet[plots].") from why
    figure = Figure(figsize=(6, 1 + 0.25 * max(len(found.found), 1)), layout="constrained")
    found.plot(figure.add_subplot())
    try:
        figure.savefig(path)
    except (OSError, ValueError) as why:
        raise ParameterError(f"write {path}", str(why), "Choose a .png, .svg or .pdf file.") from why
