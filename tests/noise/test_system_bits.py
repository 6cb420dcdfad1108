from __future__ import annotations

import copy
import hashlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.core.bits import Bits
from discreet.noise import system_bits as bits_module
from discreet.noise.system_bits import WORDS, KeyStream, SystemBits, system_bits

UNHELD = {
    "KeyStream": "one for each thread and process: SystemBits makes another after a fork",
}
"""Why these change and are not held: see `tests/conformance/test_changing_classes.py`."""


def test_the_stream_is_aes_in_counter_mode() -> None:
    key = bytes(range(32))
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    blocks = b"".join(block.update((5 + i).to_bytes(16, "big")) for i in range(4))
    stream = KeyStream(key, first=5)
    assert stream.words(3).tobytes() + stream.integer(64).to_bytes(8, "big") == blocks[:32]
    assert stream.integer(13) == int.from_bytes(blocks[32:34], "big") >> 3


@pytest.mark.parametrize("count", [0, 1, WORDS, WORDS + 1, 3 * WORDS + 7])
def test_a_request_of_any_size_continues_the_stream(count: int) -> None:
    stream, reference = KeyStream(bytes(32)), KeyStream(bytes(32))
    whole = b"".join(reference.words(1).tobytes() for _ in range(min(count, 100)))
    words = stream.words(count)
    assert words.shape == (count,)
    assert words.dtype == np.uint64
    assert words[:100].tobytes() == whole
    assert stream.spent == 8 * count


def test_integers_stay_in_their_width() -> None:
    source = SystemBits()
    assert source.integer(0) == 0
    assert all(source.integer(3) < 8 for _ in range(200))
    assert max(source.integer(130).bit_length() for _ in range(60)) > 120  # misses with probability 2**-600


def test_system_bits_are_balanced() -> None:
    words = SystemBits().words(1 << 16)
    ones = np.bitwise_count(words).sum()
    assert abs(int(ones) - 2**21) < 6 * 2**10  # 2**22 bits, standard deviation 2**10: false alarm below 1e-8
    assert len(np.unique(words)) == words.size  # false alarm 2**-33


def test_system_bits_are_secret() -> None:
    source: Bits = system_bits()
    assert source.secret
    assert system_bits() is source


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))])
def test_a_copy_has_a_key_of_its_own(copied) -> None:  # type: ignore[no-untyped-def]
    source = SystemBits()
    source.integer(64)
    twin, other = copied(source), copied(source)
    assert len({source.integer(128), twin.integer(128), other.integer(128)}) == 3


def test_a_pickle_holds_no_key() -> None:
    source = SystemBits()
    source.integer(64)
    assert pickle.dumps(source) == pickle.dumps(SystemBits())


FORK = """
import os
from discreet.noise.system_bits import SystemBits, system_bits
if MASKED:
    os.getpid = lambda: 1
own, shared = SystemBits(), system_bits()
own.integer(64), shared.integer(64)
reading, writing = os.pipe()
child = os.fork()
words = f"{own.integer(128)} {shared.integer(128)}"
if child == 0:
    os.write(writing, words.encode())
    os._exit(0)
os.waitpid(child, 0)
print(words, os.read(reading, 1000).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("masked", [False, True])
def test_child_and_parent_differ_after_a_fork(masked: bool) -> None:
    """Even where both seem to have the same process number."""
    script = FORK.replace("MASKED", str(masked))
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert len(set(printed.split())) == 4


def drawing(source: SystemBits) -> list[Callable[[], KeyStream]]:
    """Both ways to draw of a source, each of which gives the stream that it drew from."""

    def after(drawn: object) -> KeyStream:
        return source._own.stream

    return [lambda: after(source.words(1)), lambda: after(source.integer(64))]


def test_another_process_number_means_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, drawn in enumerate(drawing(source := SystemBits()), 1):
        before = drawn()
        assert drawn() is before
        monkeypatch.setattr(os, "getpid", lambda number=number: number)
        assert drawn() is not before, source


def test_a_key_does_not_outlive_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bits_module.KEY_LIFE == 16 << 30
    monkeypatch.setattr(bits_module, "KEY_LIFE", 64)
    for drawn in drawing(SystemBits()):
        before = drawn()
        while before.spent < 64:
            assert drawn() is before
        assert drawn() is not before


def test_threads_do_not_share_a_stream_or_a_buffer() -> None:
    source = SystemBits()
    mine = source.words(1000)
    kept = mine.copy()
    drawn: list[bytes] = []
    threads = [threading.Thread(target=lambda: drawn.append(source.words(1000).tobytes())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(mine, kept)
    assert len({*drawn, kept.tobytes()}) == 9


def test_tests_replay_their_noise_unless_they_are_to_draw_fresh(request: pytest.FixtureRequest) -> None:
    path, _, name = request.node.location
    expected = KeyStream(hashlib.sha256(f"{path} {name}".encode()).digest()).integer(128)
    assert (system_bits().integer(128) == expected) is not request.config.getoption("fresh")
