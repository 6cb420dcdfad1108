"""Forms: of bounded size, read strictly, whoever sends them."""

from __future__ import annotations

import pytest

from discreet.core.errors import ParameterError
from discreet.service.console.sent_form import LONGEST, MOST_FIELDS, SentForm


def test_the_last_text_of_a_field_counts_and_all_can_be_had() -> None:
    sent = SentForm.of(b"a=1&b=&a=+2+&c=%E2%82%AC")
    assert (sent.text("a"), sent.texts("a"), sent.texts("b"), sent.text("c")) == ("2", ("1", " 2 "), (), "€")
    assert (sent.number("b"), sent.number("none"), sent.whole("a")) == (None, None, 2)


@pytest.mark.parametrize(
    "body",
    [b"a=" + b"x" * LONGEST, b"&".join([b"a=1"] * (MOST_FIELDS + 1)), b"a=%ff%fe", b"a=\xff", "a=" + "y" * LONGEST],
)
def test_what_is_too_long_or_broken_is_refused(body: bytes | str) -> None:
    with pytest.raises(ParameterError, match="the form"):
        SentForm.of(body)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "one", "0x10", "1,5"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="no number"):
        SentForm({"n": (text,)}).number("n")
    with pytest.raises(ParameterError, match="not whole"):
        SentForm({"n": ("1.5",)}).whole("n")
