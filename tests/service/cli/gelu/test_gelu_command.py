"""`discreet gelu` as a newcomer meets it: the walk, the mistakes, the end."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from discreet.crypto.gelu_net.gelu_net import GeluNet
from discreet.crypto.gelu_net.layers import ConvolutionLayer, DenseLayer
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.command import main
from discreet.service.key_file import read_secret_key

Out = pytest.CaptureFixture[str]
LONG = 60.0  # seconds: whatever takes longer hangs
SERVE: tuple[str, ...] = (
    "gelu",
    "serve",
    "w.secret",
    "--identity",
    "server.key",
    "--client",
    "ann.card",
    "--client",
    "bob.card",
)
SERVE += ("--trainer", "ann", "--slots", "40", "--counts", "counts.json", "--listen", "127.0.0.1:0")
CLIENT = ("--net", "net.json", "--server", "server.card", "--divide", "16")
ANN = (*CLIENT, "--identity", "ann.key")
SCHEMA = 'neighbors = "replace"\n[columns.x]\nkind = "number"\nlower = 0\nupper = 1\n'


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with identities, a network, and records."""
    folder = tmp_path_factory.mktemp("gelu")
    draw = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("server", "ann", "bob"):
            assert main(["identity", name, "--out", f"{name}.key", "--card", f"{name}.card"]) == 0
        create = ["gelu", "create", "net.json", "--weights", "w.secret", "--layers", "6", "4", "3", "--seed", "1"]
        assert main(create) == 0
        records = np.column_stack([draw.integers(0, 17, (30, 6)), draw.integers(0, 3, 30)])
        for name, table in (("train.csv", records), ("ask.csv", records[:, :6])):
            np.savetxt(name, table, fmt="%d", delimiter=",", header="columns", comments="")
        Path("schema.toml").write_text(SCHEMA)
        create = ["ledger", "create", "ann.ledger", "--schema", "schema.toml", "--epsilon", "4", "--delta", "1e-5"]
        assert main(create) == 0
    return folder


@pytest.fixture
def folder(walked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, to spoil."""
    shutil.copytree(walked, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


@contextmanager
def serving(*more: str) -> Iterator[str]:
    """The address of a server, which is asked to stop at the end and does."""
    command = [sys.executable, "-m", "discreet", *SERVE, *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(LONG, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        said = next((line for line in process.stdout if "listens at" in line), "")
        assert said, "the server ended"
        reader = threading.Thread(target=process.stdout.read)
        reader.start()
        yield said.split()[-1]
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 0
        reader.join()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_network_is_trained_under_masks_and_asked_up_to_the_limit(folder: Path, capsys: Out) -> None:
    train = ("gelu", "train", "train.csv", *ANN, "--subgroup", "--epochs", "1", "--batch", "15")
    with serving() as address:
        capsys.readouterr()
        assert main([*train, "--connect", address, "--masks", "masks"]) == 0
        out = capsys.readouterr().out
        assert "ciphertexts are sent" in out
        assert "7 questions give all of them exactly" in out
        assert "uniform numbers" in out
        assert read_secret_key("w.secret", ServerWeights).masked_by == "ann"  # kept before the server stops
        ask = ["gelu", "predict", "ask.csv", *ANN, "--connect", address, "--masks", "masks", "--out", "found.csv"]
        ask += ["--key", "ann.paillier"]
        assert main(ask) == 0
        assert "40 slots of each layer may be asked" in capsys.readouterr().out
        assert main(ask) == 5
        assert "there are 30 records, and 10 slots are left" in capsys.readouterr().err
        bare = [one for one in ask if one not in ("--masks", "masks")]
        assert main(bare) == 5
        assert "under the masks of 'ann'" in capsys.readouterr().err
    found = Path("found.csv").read_text().split()
    assert found[0] == "class"
    assert len(found) == 31
    assert set(found[1:]) <= {"0", "1", "2"}
    assert json.loads(Path("counts.json").read_text()) == {"ann": {"0": 30, "1": 30}}
    for secret in ("w.secret", "masks", "counts.json", "ann.paillier"):
        assert Path(secret).stat().st_mode & 0o077 == 0


def test_noisy_training_is_paid_from_the_clients_ledger(folder: Path, capsys: Out) -> None:
    noisy = ["gelu", "train", "train.csv", *ANN, "--subgroup", "--epochs", "1", "--update", "noisy"]
    paid = ["--ledger", "ann.ledger", "--epsilon", "3", "--delta", "1e-6"]
    with serving() as address:
        before = read_secret_key("w.secret", ServerWeights).copied_values()
        assert main([*noisy, "--connect", address, *paid]) == 0
        assert main([*noisy, "--connect", address, *paid]) == 3
        assert main([*noisy, "--connect", address]) == 2
    with SqliteLedger.open("ann.ledger") as ledger:
        [entry] = ledger.entries()
        assert entry.purpose == "noisy training"
    after = read_secret_key("w.secret", ServerWeights).copied_values()
    assert all((one != other).any() for one, other in zip(before, after, strict=True))
    assert "nobody pays for noisy updates" in capsys.readouterr().err


def test_layers_on_images_come_before_the_others(folder: Path) -> None:
    create = ["gelu", "create", "images.json", "--weights", "images.secret", "--image", "1", "8", "8"]
    assert main([*create, "--convolution", "4", "3", "2", "--convolution", "6", "2", "1", "--layers", "10"]) == 0
    convolutions = ConvolutionLayer((1, 8, 8), 4, 3, 2), ConvolutionLayer((4, 3, 3), 6, 2, 1)
    assert GeluNet.from_json(Path("images.json").read_text()).layers == (*convolutions, DenseLayer(24, 10, "identity"))
    assert read_secret_key("images.secret", ServerWeights).net.weights == 40 + 102 + 250


def test_plans_are_said_before_anything_is_done(folder: Path, capsys: Out) -> None:
    capsys.readouterr()
    assert main(["gelu", "plan", "net.json", "--records", "30", "--epochs", "2", "--batch", "15", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sent"], found["received"]) == (2 * 6 + 4 * (4 + 3), 4 * (4 + 3 + 4))
    assert main(["gelu", "plan", "net.json", "--records", "30"]) == 0
    assert "Questions are not limited" in capsys.readouterr().out


def test_mistakes_are_one_line_and_leave_no_file(folder: Path, capsys: Out) -> None:
    ask = ["gelu", "predict", "ask.csv", *ANN, "--connect", "127.0.0.1:9", "--out", "found.csv", "--key", "ask.csv"]
    Path("words.csv").write_text("a,b\nsecret,2\n")
    for wrong in (
        ["gelu", "create", "net.json", "--weights", "w.secret", "--layers", "6", "3"],
        ["gelu", "create", "new.json", "--weights", "new.secret", "--layers", "6"],
        ["gelu", "create", "new.json", "--weights", "new.secret", "--layers", "6", "3", "2", "--activation", "step"],
        ["gelu", "create", "new.json", "--weights", "new.secret", "--layers", "6", "3", "--convolution", "4", "3", "2"],
        ["gelu", "plan", "ask.csv", "--records", "30"],
        ["gelu", "plan", "nothing.json", "--records", "30"],
        ["gelu", "plan", "net.json", "--records", "0"],
        ["gelu", "plan", "net.json", "--records", "3", "--epochs", "1", "--update", "open"],
        ["gelu", "train", "train.csv", *ANN, "--connect", "127.0.0.1:9"],
        ["gelu", "train", "train.csv", *ANN, "--connect", "127.0.0.1:9", "--update", "noisy"],
        [*SERVE, "--trainer", "eve"],
        [one.replace("counts.json", "net.json") for one in SERVE],
        [one.replace("w.secret", "ask.csv") for one in SERVE],
        [*ask[:2], "words.csv", *ask[3:]],
        [*ask[:2], "nothing.csv", *ask[3:]],
    ):
        capsys.readouterr()
        assert main(wrong) in (2, 5), wrong
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), wrong
        assert "secret,2" not in err
    assert not Path("new.json").exists()
    assert not Path("found.csv").exists()
    assert GeluNet.from_json(Path("net.json").read_text()).weights == 43
