"""Text without control characters, for terminals and pages."""

from __future__ import annotations


def plain(text: str) -> str:
    r"""Text on one line, without control characters that could rewrite a terminal.

    Examples
    --------
    >>> plain("a\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def plain_lines(text: str) -> str:
    r"""Text of several lines, each of them plain; whoever puts names into lines makes these plain first.

    Examples
    --------
    >>> plain_lines("a\x1b[2J\nb")
    'a�[2J\nb'
    """
    return "\n".join(map(plain, text.split("\n")))


def shortened(text: str, most: int) -> str:
    """Plain text of at most `most` letters."""
    text = plain(text)
    return text if len(text) <= most else text[: most - 1] + "…"
