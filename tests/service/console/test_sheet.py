"""The sheet, without a browser: contrasts that are computed, both schemes, narrow pages, reduced motion, no outside."""

from __future__ import annotations

import re

import pytest

from discreet.service.console.assets import assets

SHEET = assets()["site.css"].content.decode()
ON = {  # inks, on the papers on which they are seen
    "--ink": ("--paper", "--card", "--field"),
    "--soft": ("--paper", "--card"),
    "--accent": ("--paper", "--card"),
    "--on-accent": ("--accent",),
    "--warn": ("--warn-paper", "--card"),
    "--good": ("--good-paper", "--card"),
}
EDGES = {"--edge": ("--card", "--paper"), "--bar": ("--card",), "--error": ("--card",)}


def colours(scheme: str) -> dict[str, str]:
    """The colours of a scheme: those of light, and what dark has in their place."""
    dark = re.findall(r"@media \(prefers-color-scheme: dark\) \{(.*?)\}\s*\}", SHEET, re.DOTALL)
    light = re.sub(r"@media.*?\}\s*\}", "", SHEET, flags=re.DOTALL)
    found = dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", light))
    return found if scheme == "light" else found | dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", "".join(dark)))


def light_of(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((light_of(one), light_of(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_is_that_of_the_guideline() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_edges_stand_out_from_their_paper(scheme: str) -> None:
    known = colours(scheme)
    for inks, least in ((ON, 4.5), (EDGES, 3.0)):
        for ink, papers in inks.items():
            for paper in papers:
                assert contrast(known[ink], known[paper]) >= least, (scheme, ink, paper)
    assert len(set(colours("dark").items()) - set(colours("light").items())) >= 14


def test_a_dark_colour_replaces_every_light_one() -> None:
    assert all(colours("dark")[name] != colours("light")[name] for name in colours("light"))


def test_nothing_is_loaded_from_elsewhere_and_nothing_moves_unasked() -> None:
    assert not re.search(r"url\(|@import|https?:|expression", SHEET)
    moving = re.search(r"prefers-reduced-motion: no-preference\) \{(.*?)\}\s*\}", SHEET, re.DOTALL)
    assert moving is not None
    assert "transition" in moving[1]
    assert not re.search(r"transition|animation", SHEET.replace(moving[0], ""))


def test_wishes_of_readers_are_heard() -> None:
    for wish in ("prefers-contrast: more", "forced-colors: active", "max-width: 760px", ":focus-visible"):
        assert wish in SHEET
    assert "outline: none" not in SHEET
    assert SHEET.count("{") == SHEET.count("}")


def test_what_can_be_pressed_is_large_enough() -> None:
    heights = [int(one) for one in re.findall(r"min-height: (\d+)px", SHEET)]
    assert min(heights) >= 32
