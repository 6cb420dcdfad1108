"""What the manual shows works, and it explains every parameter that is shared."""

from __future__ import annotations

import doctest
import inspect
import os
import re
import runpy
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.query.task_file import read_task
from discreet.service.cli.command import main
from discreet.service.cli.parties import aggregate_command
from discreet.trust.aggregation.prio_reporter import PrioReporter
from tests.conformance.walk import learners, trial
from tests.crypto.paillier.small_keys import deal_small_keys
from tests.service.aggregator.certificates import certificate

DOCS = Path(__file__).parent.parent / "docs"


PAGES = sorted(page.stem for page in DOCS.glob("*.md") if ">>> " in page.read_text(encoding="utf-8"))


def test_the_manual_has_pages_with_examples() -> None:
    assert {"deep", "files", "statistics", "tutorial"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_work(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shown digits are sure to far more than ten deviations of the noise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    if page == "encrypted":
        deal_small_keys(monkeypatch)
    if page == "classifier":
        made = runpy.run_path(str(DOCS.parent / "examples" / "adult.py"))
        Path("adult.toml").write_bytes(made["SCHEMA"].read_bytes())
        for seed, name in enumerate(("train.csv", "test.csv")):
            made["stand_in"](Path(name), 3000, seed)
    found = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 1
    assert found.failed == 0


def test_the_commands_that_give_a_table_away_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (DOCS / "give_a_table_away.md").read_text(encoding="utf-8")
    (commands,), (roles,) = (re.findall(rf"```{kind}\n(.*?)```", page, flags=re.DOTALL) for kind in ("sh", "toml"))
    monkeypatch.chdir(tmp_path)
    Path("roles.toml").write_text(roles)
    for line in commands.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    assert {"synthetic.parquet", "utility.html", "anonymous.csv", "anonymity.html"} <= set(os.listdir())
    assert "k: 10" in capsys.readouterr().out


def test_the_commands_for_devices_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As they stand, but for the place of the second leader; a server runs until what comes after it is done."""
    page = (DOCS / "devices_and_helpers.md").read_text(encoding="utf-8")
    (schema,), blocks = (re.findall(rf"```{kind}\n(.*?)```", page, flags=re.DOTALL) for kind in ("toml", "bash"))
    lines = "".join(blocks).replace("\\\n", "").replace("0.0.0.0:443", "127.0.0.1:0").splitlines()
    pair, report, ask, create, ledger, leader = ([*shlex.split(line)[1:]] for line in lines)
    monkeypatch.chdir(tmp_path)
    Path("schema.toml").write_text(schema)

    def elsewhere() -> None:
        assert main(report) == 0
        PrioReporter(read_task("survey/task.toml")).report_all({"answer": ["daily"] * 99})
        assert main(ask) == 0
        assert "100 reports are in it" in capsys.readouterr().out

    monkeypatch.setattr(aggregate_command, "_wait", elsewhere)
    assert main(pair) == 0
    monkeypatch.setattr(aggregate_command, "_wait", lambda: None)
    for made, name in zip(certificate(tmp_path), ("leader.pem", "leader.key"), strict=True):
        Path(made).rename(name)
    for command in (create, ledger, leader):
        assert main(command) == 0
    assert "leader listens at https://127.0.0.1:" in capsys.readouterr().out
    assert Path("survey.task.leader.reports").exists()


def test_every_page_and_every_figure_that_is_linked_is_there() -> None:
    """Links to the reference and to proofs, which are written when the manual is built, are checked by mkdocs."""
    made = {name for file in DOCS.glob("*_figures.py") for name in run(file.name)["FIGURES"]}
    there = {path.name for path in DOCS.iterdir()} | made | {"mean_and_median.svg", "attack_demo.html"}
    for page in DOCS.glob("*.md"):
        links = re.findall(r"\]\(([\w.]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        assert {link for link in links if link not in there} == set(), page


def test_search_works_in_pages_that_were_opened_from_a_folder() -> None:
    """Such a page may neither fetch an index nor start a worker: the one comes as a script, the other as a frame."""
    settings = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    assert "\n  - search\n  - offline" in settings
    assert re.findall(r"polyfills:\n    - (\S+)", settings) == ["assets/iframe-worker.js"]
    assert "http" not in settings + (DOCS / "assets" / "iframe-worker.js").read_text(encoding="utf-8")


def test_the_manual_is_built_with_its_extra_alone() -> None:
    made = run("alone.py")
    foreign = made["foreign"]("docs")
    assert {"pytest", "hypothesis", "pyspark", "mypy"} <= foreign
    assert not foreign & {"discreet", "numpy", "sklearn", "torch", "matplotlib", "polars", "mkdocs"}
    with pytest.raises(ModuleNotFoundError, match="not by the extra"):
        made["Refusing"]({"pyspark"}).find_spec("pyspark.sql")
    assert made["Refusing"]({"pyspark"}).find_spec("numpy") is None


def test_public_names_are_linked_and_code_is_left_alone() -> None:
    linked = run("links.py")["linked"]
    assert linked("`discreet.mean(x, epsilon=1)`", "users.md") == "[`discreet.mean(x, epsilon=1)`][discreet.mean]"
    assert linked("`discreet.learners.KMeans`", "users.md") == "[`discreet.learners.KMeans`][discreet.learners.KMeans]"
    assert linked("`mean`", "statistics.md") == "[`mean`][discreet.mean]"
    for text in ("`mean`", "`discreet.gossip`", "[`discreet.mean`](x.md)", "```\n`discreet.mean`\n```"):
        assert linked(text, "users.md") == text


def test_every_figure_of_the_gallery_is_drawn_by_its_line() -> None:
    made = run("gallery_figures.py")
    for page, draw in made["FIGURES"].items():
        (ax, *_) = draw().axes
        assert ax.has_data(), page
    assert all(line in made["gallery"]() for line in made["LINES"].values())


def run(name: str) -> dict[str, Any]:
    return runpy.run_path(str(DOCS / name))


def test_the_how_to_is_short() -> None:
    lines = re.findall(r"^(?:>>>|\.\.\.) ", (DOCS / "classifier.md").read_text(), re.MULTILINE)
    assert 10 < len(lines) < 25


def test_the_table_of_learners_is_made_of_their_docstrings_and_names_all() -> None:
    made = runpy.run_path(str(DOCS / "learner_table.py"))
    assert made["MARK"] in (DOCS / "learners.md").read_text()
    rows = {row.partition("`")[2].partition("`")[0]: row for row in made["table"]().splitlines()[2:]}
    assert set(rows) == {
        name for name in discreet.learners.__all__ if inspect.isclass(getattr(discreet.learners, name))
    }
    assert "| `coef_`, `intercept_` | two releases of moments, one of counts of classes" in rows["LinearSVC"]
    assert "| `categories_` | nothing is asked without `max_categories`; with it, one" in rows["OneHotEncoder"]
    assert all(len(row.split(" | ")) == 5 and " |  |" not in row for row in rows.values())


def test_each_family_of_learners_has_a_figure_which_is_drawn() -> None:
    made = runpy.run_path(str(DOCS / "learner_figures.py"))
    assert set(made["FIGURES"]) == set(re.findall(r"\((learners_\w+\.svg)\)", (DOCS / "learners.md").read_text()))
    for draw in made["FIGURES"].values():
        for ax in [one for one in draw().axes if one.get_label() != "<colorbar>"]:
            assert ax.get_title()
            assert ax.has_data() or ax.texts


def test_an_account_certifies_less_than_the_plain_sum_and_more_than_one_plan() -> None:
    made = runpy.run_path(str(DOCS / "composition_figures.py"))
    assert "(composition.svg)" in (DOCS / "composition.md").read_text()
    for ax in made["FIGURES"]["composition.svg"]().axes:
        asked, certified, tight = (line.get_ydata() for line in ax.get_lines())
        assert len(certified) > 1.5 * max(ax.get_lines()[0].get_xdata())
        assert max(certified) <= max(asked) == 3
        assert all(a <= b for a, b in zip(tight, certified[1::5], strict=True))


def test_the_figure_of_series_has_truths_releases_and_bands() -> None:
    """The smooth part is in its band, and so is most of what FAST follows."""
    for ax in runpy.run_path(str(DOCS / "series_figures.py"))["FIGURES"]["series.svg"]().axes:
        release, truth = (line.get_ydata() for line in ax.get_lines())
        assert len(release) == len(truth) == 200
        assert abs(release - truth).mean() < 0.1 * truth.mean()
        assert len(ax.collections) == 1


def test_figures_of_learners_have_fixed_bits() -> None:
    draw = runpy.run_path(str(DOCS / "learner_figures.py"))["FIGURES"]["learners_components.svg"]
    first, again = ([line.get_xydata().tolist() for ax in draw().axes for line in ax.lines] for _ in range(2))
    assert len(first) == 3
    assert first == again


def test_every_learner_asks_sums_unless_the_table_says_otherwise() -> None:
    """The trials of all learners are put to every trust model, unless they say that they ask for more than sums."""
    made = runpy.run_path(str(DOCS / "learner_table.py"))
    for kind in learners():
        if kind.__name__ in discreet.learners.__all__ and "| any |" in made["_row"](kind):
            assert trial(kind).sums, kind


def test_every_parameter_that_two_share_is_explained() -> None:
    made, text = run("option_table.py"), (DOCS / "names.md").read_text()
    assert made["MARK"] in text
    rows = re.findall(r"^\| (`.*?) \|", text.replace(made["MARK"], made["table"]()), re.MULTILINE)
    public = [getattr(room, name) for room in (discreet, discreet.learners) for name in room.__all__]
    asked = [one for one in public if inspect.isfunction(one) or hasattr(one, "fit")]
    shared = Counter(name for one in asked for name in inspect.signature(one).parameters)
    assert shared["epsilon"] > 40
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {name for name, times in shared.items() if times > 1} <= explained


def test_the_figure_of_filters_has_three_placements_and_a_signal_in_its_band() -> None:
    left, right = run("filter_figures.py")["FIGURES"]["filters.svg"]().axes
    assert len(left.patches) == 3
    released, exact = (line.get_ydata() for line in right.get_lines())
    assert abs(released - exact).mean() < 0.3
    assert len(right.collections) == 1


def test_the_curves_of_attacks_on_a_private_forest_stay_below_what_epsilon_allows() -> None:
    """Of 400 members and others, and 25 more of each for luck."""
    plain, private = run("break_it_figures.py")["FIGURES"]["break_it_roc.svg"]().axes
    for ax in (plain, private):
        curves = [line.get_xydata() for line in ax.get_lines() if line.get_label() != "chance"]
        assert len(curves) == 4
        beyond = [(right - np.exp(1.0) * wrong).max() for wrong, right in (curve.T for curve in curves)]
        assert (max(beyond) > 25 / 400) == (ax is plain)


def test_the_gallery_has_six_attacks_that_succeed_on_what_is_exact_and_on_no_private_twin() -> None:
    """The slack for luck is a tenth: of a hundred members ten, before one of two hundred others is named."""
    pictures = run("break_it_figures.py")["FIGURES"]["break_it_gallery.svg"]().axes
    assert len({ax.get_title() for ax in pictures}) == 6
    exact, private = [], []
    for ax in pictures:
        curves = {str(line.get_label()): np.asarray(line.get_xydata()).T for line in ax.get_lines()}
        exact.append(float((curves["exact"][1] - curves["exact"][0]).max()))
        wrong, right = curves["epsilon 1"]
        private.append(float((right - np.exp(1.0) * wrong).max()))
    assert min(exact) > 0.08
    assert max(private) < 0.1
