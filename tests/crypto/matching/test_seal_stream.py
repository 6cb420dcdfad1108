"""SEAL reads what is written here, and nothing that anybody else wrote."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from discreet.core.errors import EngineFailure, MissingExtra
from discreet.crypto.matching import seal_stream
from discreet.crypto.matching.match_parameters import DEGREE, MatchParameters
from discreet.crypto.matching.seal_stream import HEADER, seal


def test_what_is_made_here_is_byte_for_byte_what_seal_writes() -> None:
    parameters = MatchParameters(8)
    engine, api = parameters.engine, seal()
    secret = api.KeyGenerator(engine.context).secret_key()
    plain = parameters.encoded(np.arange(2048.0), 2.0**30)
    sealed = api.Ciphertext()
    encryptor = api.Encryptor(engine.context, secret)
    encryptor.encrypt_symmetric(plain, sealed)
    stream = seal_stream.written(sealed)
    shape, words = (2, 2, DEGREE), 2 * 2 * DEGREE
    own = seal_stream.ciphertext(
        engine.levels[2], transformed=True, shape=shape, scale=2.0**30, data=stream[-8 * words :]
    )
    assert own[HEADER.size :] == stream
    seeded = seal_stream.written(encryptor.encrypt_symmetric(plain))
    end = len(seeded) - seal_stream.SEED - 1 - HEADER.size
    again = seal_stream.seeded_ciphertext(
        engine.levels[2],
        transformed=True,
        shape=shape,
        scale=2.0**30,
        data=seeded[end - 8 * words // 2 : end],
        seed=seeded[-seal_stream.SEED :],
    )
    assert again[HEADER.size :] == seeded
    stream = seal_stream.written(secret)
    assert seal_stream.secret(engine.levels[3], stream[-8 * 3 * DEGREE :])[HEADER.size :] == stream


def test_without_the_extra_the_line_to_run_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, cached in (("zstandard", seal_stream._zstandard), ("tenseal.sealapi", seal_stream.seal)):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            cached.cache_clear()
            with pytest.raises(MissingExtra, match=r"pip install 'discreet\[matching\]'"):
                cached()
        cached.cache_clear()
    seal()


def test_what_another_seal_would_not_read_is_said_to_be_so() -> None:
    engine = MatchParameters(8).engine
    stream = seal_stream.ciphertext(
        engine.levels[2], transformed=True, shape=(2, 2, DEGREE), scale=1.0, data=b"\xff" * (8 * 4 * DEGREE)
    )
    with pytest.raises(EngineFailure, match="does not read"):
        seal_stream.read(seal().Ciphertext, engine.context, stream)


def test_the_same_in_a_file_where_there_is_no_memory_file(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters = MatchParameters(8)
    secret = seal().KeyGenerator(parameters.engine.context).secret_key()
    stream = seal_stream.written(secret)
    monkeypatch.delattr("os.memfd_create")
    assert seal_stream.written(secret) == stream
    again = seal_stream.secret(parameters.engine.levels[3], stream[-8 * 3 * DEGREE :])
    assert seal_stream.written(seal_stream.read(seal().SecretKey, parameters.engine.context, again)) == stream
