"""What attacks found, as a web page: NOT PRIVATE on top, rows by number, no value of any record."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.attacks.attack_result import NOT_PRIVATE, RATES, AttackResult
from discreet.attacks.membership_scores import MembershipScores
from discreet.attacks.report.allowance import Allowance
from discreet.core.grid import Array
from discreet.display.document import document, framed, tiles
from discreet.display.notebook import safe, unbroken

if TYPE_CHECKING:
    from discreet.attacks.report.attack_report import AttackReport, RunAttack

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
WIDTH, HEIGHT, LEFT, FOOT = 320.0, 240.0, 44.0, 34.0
POINTS = 400  # of a curve, at most


def page(report: AttackReport) -> str:
    """The report as a whole document."""
    return document(f"Attacks on {report.name}", fragment(report))


def joined(reports: Sequence[AttackReport]) -> str:
    """Several reports on one page."""
    return document(f"Attacks on {', '.join(report.name for report in reports)}", "".join(map(fragment, reports)))


def fragment(report: AttackReport) -> str:
    """The report as a part of another document, whose sheet it needs."""
    parts = [_head(report), _overview(report), *map(_attack, report.runs), _whom(report), _promise(report)]
    return framed(*parts, _advice(report), _unfit(report))


def _head(report: AttackReport) -> str:
    told = "".join(f"<p class='warning'><b>Mind:</b> {safe(text)}</p>" for text in report.warnings)
    title = report.title.removeprefix(f"{report.name}: ")
    return (
        f"<p class='warning'><b>{safe(NOT_PRIVATE)}</b></p>"
        f"<header><p class='kicker'>Attack before release</p><h1>{safe(report.name)}</h1>"
        f"<p class='lead'>{unbroken(title)}</p>{tiles(_tiles(report))}</header>{told}"
        f"<section><table class='promise'>{_rows(report.about)}</table></section>"
    )


def _tiles(report: AttackReport) -> dict[str, str]:
    found = {"attacks run": str(len(report.runs)), "better than chance": str(len(report.succeeded))}
    scored = [result.scores.rate_at(0.01) for result in report.results if result.scores is not None]
    members = {"members found at 1\u00a0% false": f"{100 * max(scored):.1f} %"} if scored else {}
    least = {"epsilon, at least": f"{report.results[0].epsilon:.3g}"} if report.results else {}
    promised = {} if report.receipt is None else {"epsilon promised": f"{report.receipt.epsilon:.4g}"}
    return {**found, **members, **least, **promised, "not run": str(len(report.unfit_here))}


def _overview(report: AttackReport) -> str:
    head = ("attack", "right", "interval", "by chance", "epsilon, at least", "seconds", "questions")
    return (
        "<section><h2>What an adversary can do, and at which cost</h2>"
        f"<table class='wide'><tr>{_cells('th', head)}</tr>{''.join(map(_overview_row, report.results))}</table>"
        "<p class='none'>Epsilon, at least: under a smaller one such a success would be impossible. It counts the"
        " records of which an attack on membership is surest, too: it may be right of these, and of all no more often"
        " than by chance. The intervals of all attacks hold together.</p></section>"
    )


def _overview_row(result: AttackResult) -> str:
    low, high = result.interval
    name = f"<b>{safe(result.attack)}</b>" if result.beats_chance else safe(result.attack)
    figures = (
        f"{100 * result.success:.1f} %",
        f"{100 * low:.1f} to {100 * high:.1f} %",
        f"{100 * result.chance:.1f} %",
        f"{result.epsilon:.3g}",
        f"{result.seconds:.3g}",
        f"{result.questions:,}",
    )
    return f"<tr><td>{name}</td>{_cells('td', figures)}</tr>"


def _attack(run: RunAttack) -> str:
    result = run.result
    figures = {name: f"{value:.4g}" for name, value in {**result.rates(), **result.numbers()}.items()}
    rows = {**result.threat.lines(), "counted": result.measure, **figures, "paper": run.paper}
    drawn = "" if result.scores is None else f"<figure>{curve(result.scores)}</figure>"
    verdict = "It does better than chance." if result.beats_chance else "It does no better than chance."
    return (
        f"<section><h2>{safe(result.attack)}</h2><p class='kind'>{verdict}</p>"
        f"<div class='both'><table class='promise'>{_rows(rows)}</table>{drawn}</div></section>"
    )


def _whom(report: AttackReport) -> str:
    if not report.succeeded:
        return ""
    named = (f"<tr><th>{safe(one.attack)}</th><td>{_numbers(one.worst)}</td></tr>" for one in report.succeeded)
    return (
        "<section><h2>To whom</h2><p class='kind'>Rows of the members, or of the original table, that stand out most;"
        f" the first record is row 0.</p><table class='promise'>{''.join(named)}"
        f"<tr><th>most often</th><td>{_numbers(report.worst)}</td></tr></table></section>"
    )


def _promise(report: AttackReport) -> str:
    allowed = report.allowance
    if allowed is None:
        title, rows = "What a promise would allow at most", [_allowed(Allowance(epsilon)) for epsilon in EPSILONS]
    else:
        title, rows = "What the receipt allows at most", [_allowed(allowed)]
    head = ("epsilon", "delta", *(f"members found at {100 * rate:g} % false" for rate in RATES), "right of two")
    beyond = ", ".join(result.attack for result in report.beyond)
    told = f"<p class='warning'><b>Beyond what the receipt allows:</b> {safe(beyond)}</p>" if beyond else ""
    table = f"<table class='wide'><tr>{_cells('th', head)}</tr>{''.join(rows)}</table>"
    return f"<section><h2>{title}</h2>{told}{table}</section>"


def _allowed(allowed: Allowance) -> str:
    rates = (f"{100 * allowed.true_positives(rate):.3g} %" for rate in RATES)
    epsilon = "none" if math.isinf(allowed.epsilon) else f"{allowed.epsilon:.4g}"
    return f"<tr>{_cells('td', (epsilon, f'{allowed.delta:.3g}', *rates, f'{100 * allowed.success(0.5):.3g} %'))}</tr>"


def _advice(report: AttackReport) -> str:
    lines = "".join(f"<li>{safe(text)}</li>" for text in report.advice)
    return f"<section><h2>What to change</h2><ul>{lines}</ul></section>"


def _unfit(report: AttackReport) -> str:
    if not report.unfit:
        return ""
    elsewhere = ", ".join(report.unfit_elsewhere)
    why = {**report.unfit_here, **({"For other releases": elsewhere} if elsewhere else {})}
    lines = "".join(f"<li><b>{safe(name)}</b>: {safe(text)}</li>" for name, text in why.items())
    return f"<section><h2>What was not run, and why</h2><ul>{lines}</ul></section>"


def _rows(lines: Mapping[str, str]) -> str:
    return "".join(f"<tr><th>{safe(name)}</th><td>{unbroken(text)}</td></tr>" for name, text in lines.items())


def _cells(tag: str, texts: tuple[str, ...]) -> str:
    return "".join(f"<{tag}>{safe(text)}</{tag}>" for text in texts)


def _numbers(rows: tuple[int, ...]) -> str:
    return ", ".join(map(str, rows)) or "none"


def curve(scores: MembershipScores) -> str:
    """The ROC curve on logarithmic axes, beside what chance would find: an SVG without a script."""
    wrong, right = scores.curve
    least = 1 / (2 * max(len(scores.members), len(scores.others)))
    decades = range(math.ceil(math.log10(least)), 1)
    drawn = [_tick(decade, least) for decade in decades]
    drawn += [f"<line class='grid' x1='{LEFT}' y1='{HEIGHT - FOOT}' x2='{WIDTH}' y2='0'/>"]
    places = _scaled(_steps(wrong.clip(least), right.clip(least)), least)
    path = " ".join(f"{LEFT + (WIDTH - LEFT) * x:.1f},{(HEIGHT - FOOT) * (1 - y):.1f}" for x, y in places)
    drawn += [f"<polyline points='{path}' fill='none' stroke='currentColor' stroke-width='2'/>"]
    drawn += [f"<text x='{WIDTH}' y='{HEIGHT - 4}' text-anchor='end'>others accused</text>"]
    drawn += [f"<text x='{LEFT}' y='-12'>members found; area {scores.area:.3f}</text>"]
    frame = f"viewBox='0 -24 {WIDTH + 24} {HEIGHT + 24}' role='img' aria-label='ROC curve, area {scores.area:.3f}'"
    return f"<svg class='chart curve' {frame}>{''.join(drawn)}</svg>"


def _tick(decade: int, least: float) -> str:
    share = 1 - decade / math.log10(least)
    x, y = LEFT + (WIDTH - LEFT) * share, (HEIGHT - FOOT) * (1 - share)
    text = f"{100 * 10.0**decade:g} %"
    return (
        f"<line class='grid' x1='{x:.1f}' y1='0' x2='{x:.1f}' y2='{HEIGHT - FOOT}'/>"
        f"<line class='grid' x1='{LEFT}' y1='{y:.1f}' x2='{WIDTH}' y2='{y:.1f}'/>"
        f"<text x='{x:.1f}' y='{HEIGHT - FOOT + 14}' text-anchor='middle'>{text}</text>"
        f"<text x='{LEFT - 5}' y='{y + 4:.1f}' text-anchor='end'>{text}</text>"
    )


def _steps(wrong: Array, right: Array) -> Array:
    """The corners of a curve that goes right, then up; of many thresholds some."""
    some = np.unique(np.linspace(0, len(wrong) - 1, POINTS).astype(int))
    x, y = np.repeat(wrong[some], 2)[1:], np.repeat(right[some], 2)[:-1]
    return np.column_stack([x, y])


def _scaled(points: Array, least: float) -> list[list[float]]:
    found: list[list[float]] = (1 - np.log10(points) / math.log10(least)).tolist()
    return found
