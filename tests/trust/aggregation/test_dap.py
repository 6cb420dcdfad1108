"""The messages: test vectors of the page, and bytes at random that are refused in the same words, whatever they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import DiscreetError
from discreet.noise.deterministic import DeterministicBits
from discreet.trust.aggregation import dap
from discreet.trust.aggregation.dap import (
    CONTINUED,
    FINISHED,
    REJECTED,
    REPLAYED,
    Ciphertext,
    Collection,
    Counted,
    HelperAnswer,
    HpkeConfig,
    Metadata,
    PreparedReport,
)
from discreet.trust.aggregation.sealed_report import SealedReport, ShareKey, sealed_reports
from discreet.trust.aggregation.share_aggregator import Reports
from tests.trust.aggregation.surveyed import NOW, ROWS, published

PAGE = Path(__file__).parents[3] / "docs" / "wire" / "prio3.md"
NONCE, SEALED = bytes(range(16)), Ciphertext(7, b"\xaa\xbb", b"\xcc\xdd\xee")
METADATA = Metadata(NONCE, 1_700_000_000)
MESSAGES: dict[str, tuple[bytes, Callable[[bytes], Any], Any]] = {
    "HpkeConfigList": (
        dap.written_configs([HpkeConfig(1, bytes(range(32)))]),
        dap.read_configs,
        [HpkeConfig(1, bytes(range(32)))],
    ),
    "HpkeCiphertext": (SEALED.written(), lambda data: dap.whole(data, Ciphertext.read), SEALED),
    "ReportMetadata": (METADATA.written(), lambda data: dap.whole(data, Metadata.read), METADATA),
    "AggregationJobInitReq": (
        dap.written_job([PreparedReport(METADATA, b"\x01\x02", SEALED, b"\x03")]),
        dap.read_job,
        [PreparedReport(METADATA, b"\x01\x02", SEALED, b"\x03")],
    ),
    "AggregationJobResp": (
        dap.written_answers(
            [
                HelperAnswer(NONCE, CONTINUED, b"\x04\x05"),
                HelperAnswer(NONCE, FINISHED),
                HelperAnswer(NONCE, REJECTED, reason=REPLAYED),
            ]
        ),
        dap.read_answers,
        [
            HelperAnswer(NONCE, CONTINUED, b"\x04\x05"),
            HelperAnswer(NONCE, FINISHED),
            HelperAnswer(NONCE, REJECTED, reason=REPLAYED),
        ],
    ),
    "AggregationJobContinueReq": (dap.written_accepted([NONCE]), dap.read_accepted, [NONCE]),
    "AggregateShareReq": (
        Counted(1000, bytes(range(32))).written(),
        lambda data: dap.whole(data, Counted.read),
        Counted(1000, bytes(range(32))),
    ),
    "Collection": (
        Collection(1000, 1_700_000_000, 3600, SEALED, SEALED).written(),
        lambda data: dap.whole(data, Collection.read),
        Collection(1000, 1_700_000_000, 3600, SEALED, SEALED),
    ),
}


def test_messages_are_read_as_they_were_written() -> None:
    for written, read, meant in MESSAGES.values():
        assert read(written) == meant


def test_the_page_has_these_messages_to_the_byte() -> None:
    shown = dict(re.findall(r"^\| `(\w+)` \| `([0-9a-f]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert shown == {name: written.hex() for name, (written, _, _) in MESSAGES.items()}


def fuzzed(data: bytes, draw: np.random.Generator) -> bytes:
    """Some bytes changed, cut off, doubled, or all at random."""
    way, changed = draw.integers(5), bytearray(data)
    if way < 2:
        for place in draw.integers(0, len(changed), way + 1).tolist():
            changed[place] = int(draw.integers(256))
    elif way == 2:
        del changed[int(draw.integers(len(changed))) :]
    elif way == 3:
        changed += draw.bytes(int(draw.integers(1, 9)))
    else:
        changed = bytearray(draw.bytes(int(draw.integers(2 * len(data)))))
    return bytes(changed)


@pytest.mark.parametrize("name", [*MESSAGES, "Report"])
def test_ten_thousand_fuzzed_messages_are_read_or_refused(name: str) -> None:
    """A refusal quotes no byte of them: its words are one of a few."""
    draw = np.random.default_rng(len(name))
    if name == "Report":
        task = published()
        keys = [HpkeConfig(1, ShareKey.drawn(DeterministicBits(k)).public) for k in (0, 1)]
        made = Reports.of(task.task, ROWS[:1], DeterministicBits(9))
        written = sealed_reports(task, made, keys, NOW)[0].written()
        read: Callable[[bytes], Any] = partial(dap.whole, read=lambda reader: SealedReport.read(reader, task))
    else:
        written, read, _ = MESSAGES[name]
    said, read_well = set(), 0
    for _ in range(10_000):
        try:
            read(fuzzed(written, draw))
            read_well += 1
        except DiscreetError as refusal:
            said.add(str(refusal))
    assert 1 <= len(said) <= 12
    assert read_well < 9_000
