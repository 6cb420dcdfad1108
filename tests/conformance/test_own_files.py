"""Whatever makes a file either leaves it to `own_file`, or is listed here with the reason why it need not."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import discreet

SOURCE = Path(discreet.__file__).parent
MAKERS = {"open", "write_bytes", "write_text", "mkstemp", "NamedTemporaryFile", "touch", "connect", "savez", "tofile"}
MAKERS |= {"copyfile", "copy2", "copytree", "savefig", "write_table", "memmap"}
DUMPS = ("np.save(", "torch.save(", "joblib.dump(", "pickle.dump(", "json.dump(")
OWN = {"create_own", "replace_own"}
ELSEWHERE = {
    "ledger/own_file.py": "the one place",
    "ledger/file_lock.py": "a lock holds the number of a process",
    "ledger/ledger_file.py": "SQLite fills a file that was made for its owner alone",
    "ledger/anchor.py": "a mark is overwritten in place, after `replace_own` made the file",
    "ledger/own_database.py": "SQLite fills a file that `create_own` made",
    "sequential/saved_stream.py": "made for its owner alone, and read once",
    "crypto/matching/seal_stream.py": "memory without a name, or a file of the owner's alone",
    "crypto/matching/gallery.py": "ciphertexts that grow in place, in a file of its owner's alone",
    "service/cli/matching/match_files.py": "what is public of a key, and a reduction",
    "deep/training/trainer.py": "a release",
    "query/sample/make_sample.py": "made-up records",
    "service/cli/out_file.py": "a release, where its user wants it",
    "service/local_parties.py": "a public list and a log, in a folder of its own",
    "service/cli/parties/rappor_command.py": "made-up values, and reports",
    "service/cli/sites/site_command.py": "SQLite copies a database into a folder that was made for its owner alone",
    "service/server/site.py": "a lock that holds nothing",
    "service/server/site_store.py": "SQLite fills a file that was made for its owner alone",
    "microdata/published_table.py": "Arrow fills memory, which `replace_own` writes",
    "service/cli/sites/fit_command.py": "memory, which `replace_own` writes",
    "trust/stored.py": "memory, which a ledger keeps",
    "trust/isolation/job.py": "memory without a name",
    "trust/isolation/walls.py": "a setting of the kernel",
    "trust/network/link.py": "memory without a name, or a folder of its own, under a password",
}
OPEN = {
    "anchor.py": "a mark has a checksum, and is no secret",
    "published_table.py": "a table is given away, and is no secret",
    "out_file.py": "a page for its owner to look at, which nothing reads again",
    "running.py": "a task is public; its secrets are read by read_own",
    "new_site.py": "a file to fill in, which has no secret",
    "user_command.py": "a site's file has no secret: its keys are hashes, and elsewhere",
    "fit_command.py": "a model is a release",
    "aggregator.py": "a tally has a checksum, and is no secret",
}


@cache
def calls() -> dict[Path, list[ast.Call]]:
    """Of each file that may make one."""
    texts = {path: path.read_text() for path in SOURCE.rglob("*.py")}
    names = (*(f"{name}(" for name in (*MAKERS, *OWN)), *DUMPS)
    likely = {path: text for path, text in texts.items() if any(name in text for name in names)}
    return {path: [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)] for path, text in likely.items()}


def makes_a_file(call: ast.Call) -> bool:
    text, name = ast.unparse(call), ast.unparse(call.func).rpartition(".")[2]
    if name == "open":
        return "O_CREAT" in text or any(f"'{mode}" in text for mode in ("w", "x", "a", "r+"))
    return text.startswith(DUMPS) or (name in MAKERS and (name != "connect" or text.startswith("sqlite3")))


def test_files_are_made_in_one_place_or_have_a_reason() -> None:
    makers = {str(path.relative_to(SOURCE)) for path, found in calls().items() if any(map(makes_a_file, found))}
    assert makers <= set(ELSEWHERE), "let discreet.ledger.own_file make it"


def test_secrets_are_read_by_what_checks_their_length_and_whose_they_are() -> None:
    found = 0
    for path, calls_of in calls().items():
        names = {ast.unparse(call.func).rpartition(".")[2] for call in calls_of}
        if OWN & names and path.name not in OPEN:
            assert {"read_own", "check_own"} & names, f"{path}: what it wrote for its owner alone is read by read_own"
            assert "read_bytes" not in names, path
            found += 1
    assert found >= 4
