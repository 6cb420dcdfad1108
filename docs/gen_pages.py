"""Write the navigation, the figures, the reference (what each public room offers), and the proofs.

Public names are those of the rooms' stubs (`__init__.pyi`). A room whose names come from several sub-rooms has a page
for each of these. A proof lies beside its module (`laplace.md` beside `laplace.py`) and gets a page of its own.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import runpy
import typing
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib
import mkdocs_gen_files

from discreet.attacks.report.attack_page import joined
from discreet.attacks.report.demo import demo
from discreet.releases.release import Release

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "discreet"
HOME = "index.md"
PARTS = {  # the pages that are written by hand; one that is not named here is a how-to
    "Tutorial": ["tutorial.md"],
    "How to": [
        "choosing_epsilon.md",
        "from_pandas_to_private.md",
        "group_by.md",
        "sql.md",
        "sketches.md",
        "users.md",
        "team_budget.md",
        "ask_a_site.md",
        "run_a_site.md",
        "console.md",
        "for_the_auditor.md",
        "publish_a_table.md",
        "give_a_table_away.md",
        "break_it.md",
        "files.md",
        "spark.md",
        "trust.md",
        "parties.md",
        "encrypted.md",
        "matching.md",
        "devices_and_helpers.md",
        "classifier.md",
        "deep.md",
        "fair.md",
        "local.md",
        "rappor.md",
        "bandits.md",
        "counters.md",
        "series.md",
        "filters.md",
        "graphs.md",
        "publish_network.md",
        "coming_from.md",
    ],
    "Reference": ["statistics.md", "learners.md", "names.md", "gallery.md"],
    "Explanation": ["sentence.md", "composition.md", "exact_noise.md", "attacks.md", "attack_table.md"],
}
ROOMS = (
    "discreet",
    "discreet.learners",
    "discreet.deep",
    "discreet.local",
    "discreet.sequential",
    "discreet.graphs",
    "discreet.microdata",
    "discreet.attacks",
    "discreet.as_published",
    "discreet.mechanisms",
    "discreet.accounting",
    "discreet.ledger",
)
GENERAL = "general"  # the page of what is in no sub-room
TITLES = {
    "": "General",
    "moments": "Counts, means, variances",
    "ranks": "Quantiles and extremes",
    "tables": "Tables and histograms",
    "curves": "Distributions and densities",
    "hypotheses": "Tests of hypotheses",
    "fits": "Regression and M-estimates",
    "data": "Data, budgets and parties",
    "additive": "Noise on sums",
    "selection": "Choices and keys",
    "stable": "Stable figures",
    "graphs": "Graphs",
    "vectors": "Vectors",
    "online": "Online queries",
    "bandits": "Bandits",
    "counters": "Counters of streams",
    "series": "Series",
    "filters": "Filters of signals",
    "online_statistics": "Online statistics",
    "publishing": "Published networks",
    "synthetic": "Synthetic tables",
    "anonymity": "Anonymous tables",
    "perturbation": "Noise, swaps and projections",
    "rules": "Rules",
    "utility": "Utility",
    "training": "Training",
    "models": "Models and recipes",
    "clipping": "Clipped gradients",
    "noise": "Correlated noise",
    "checks": "Checks and canaries",
    "layers": "Layers",
    "fair": "Fairness",
    "linear": "Linear models",
    "anova": "Smooth ANOVA models",
    "trees": "Trees and additive models",
    "bayes": "Naive Bayes",
    "clusters": "Clusters",
    "components": "Components",
    "preprocessing": "Scalers and encoders",
    "answers": "Answers to queries",
    "linkage": "Linkage",
    "membership": "Membership",
    "perturbed": "Perturbed tables",
    "inference": "Attributes and inputs",
    "images": "Pictures",
    "mixtures": "Single records",
    "report": "Reports",
    "discreet.learners.selection": "Pipelines, searches and evaluation",
}
DATA = {"core", "schema", "trust", "ledger", "query", "releases"}  # rooms whose names are looked for together
MORE = {
    "Results": ["core.receipt.Receipt"],
    "Errors": ["core.errors"],
    "Events": ["core.events"],
    "Sources and parties": [
        "trust.sources.file.File",
        "trust.sources.query.postgres_table",
        "trust.isolation.rehearsed.rehearsed",
        "trust.policy.Policy",
        "service.key_file.read_identity",
        "service.local_parties.local_parties",
    ],
    "Reports and plans": [
        "query.report.Report",
        "query.forecast.forecast.Forecast",
        "query.forecast.forecast.Expectation",
        "query.schema_file.read_schema",
    ],
    "Audits": [
        "audit.audit_report.AuditReport",
        "audit.audited_estimator.audited_estimator",
        "audit.trial.trial",
        "audit.trial.judged",
        "audit.trial.Verdict",
        "audit.lower_bound.lower_bound",
        "audit.one_run.one_run",
        "audit.one_run.OneRun",
        "audit.one_run.one_run_epsilon",
    ],
    "Extending": [
        "questions.question.BoundedSum",
        "questions.recipe.recipe",
        "core.bound.Bound",
        "core.grid.Grid",
        "core.mechanism.Mechanism",
        "core.mechanism.Noise",
        "core.mechanism.Share",
        "fitting.private_estimator.PrivateEstimator",
        "trust.permit.Permit",
    ],
}


def write(page: Path, text: str) -> None:
    """Write one page."""
    with mkdocs_gen_files.open(page, "w") as file:
        file.write(text)


def public(room: str) -> dict[str, list[str]]:
    """The public names of a room, in groups."""
    stub = SOURCE.joinpath(*room.split("."), "__init__.pyi")
    groups = defaultdict(list)
    for line in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(line, ast.ImportFrom) and line.module:
            groups[group(line.module.split("."))] += [f"{room}.{name.name}" for name in line.names]
    return {group: groups[group] for group in sorted(groups, key=lambda group: [*TITLES, group].index(group))}


def group(module: list[str]) -> str:
    """Where the names of a module are looked for; a room without sub-rooms is one group."""
    *above, _ = [part for part in module if part != "statistics"]
    return "data" if DATA.intersection(above) else "".join(above[:1])


def summary(name: str) -> str:
    """The first sentence of a docstring."""
    return (inspect.getdoc(pkgutil.resolve_name(name)) or "").partition("\n")[0]


def results(names: Iterable[str]) -> list[str]:
    """The kinds of result that functions return, the base of them all first."""
    returned = [
        typing.get_type_hints(found).get("return")
        for name in names
        if inspect.isfunction(found := pkgutil.resolve_name(name))
    ]
    hints = [one for hint in returned for one in (hint, *typing.get_args(hint))]
    kinds = {typing.get_origin(one) or one for one in hints}
    own = {kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, Release)} | {Release}
    return [
        f"{kind.__module__}.{kind.__name__}"
        for kind in sorted(own, key=lambda kind: (len(kind.__mro__), kind.__name__))
    ]


def described(title: str, names: Iterable[str], page: Path) -> str:
    """A page of names, each with its docstring and a link to the proof beside its module."""
    lines = [f"# {title}", ""]
    for name in names:
        lines += [f"::: {name}", ""]
        proof = Path(inspect.getfile(pkgutil.resolve_name(name))).with_suffix(".md")
        if proof.exists():
            lines += [f"[The proof]({'../' * len(page.parent.parts)}{proof_page(proof).as_posix()})", ""]
    return "\n".join(lines)


def contents(room: str, pages: dict[Path, tuple[str, list[str]]]) -> str:
    """What a room offers, in one table for each of its pages."""
    lines = [f"# {room}", "", summary(room), ""]
    for page, (title, names) in pages.items():
        lines += [f"## [{title}]({page.name})", "", "| name | what it does |", "|---|---|"]
        lines += [f"| [`{name.rpartition('.')[2]}`]({page.name}#{name}) | {summary(name)} |" for name in names]
        lines += [""]
    return "\n".join(lines)


def titled(room: str, group: str) -> str:
    """The title of a group's page; two rooms may give one name to different groups."""
    return TITLES.get(f"{room}.{group}", TITLES.get(group, group.capitalize()))


def write_room(nav: mkdocs_gen_files.Nav, room: str) -> None:
    """Write the pages of a room's groups, and the room's own, which lists them."""
    home, groups = Path("reference", room), public(room)
    if list(groups) == [""]:
        nav["Reference", room] = f"{home}.md"
        write(home.with_name(f"{room}.md"), described(room, groups[""], home))
        return
    pages = {home / f"{group or GENERAL}.md": (titled(room, group), names) for group, names in groups.items()}
    nav["Reference", room] = (home / "index.md").as_posix()
    write(home / "index.md", contents(room, pages))
    for page, (title, names) in pages.items():
        nav["Reference", room, title] = page.as_posix()
        write(page, described(title, names, page))


def write_more(nav: mkdocs_gen_files.Nav) -> None:
    """Write the pages of what users meet without importing it from a public room."""
    for title, names in MORE.items():
        full = [f"discreet.{name}" for name in names]
        if title == "Results":
            full = results(name for names in public("discreet").values() for name in names) + full
        page = Path("reference", f"{title.lower().replace(' ', '_')}.md")
        nav["Reference", title] = page.as_posix()
        write(page, described(title, full, page))


def proof_page(proof: Path) -> Path:
    """Where the proof that lies beside a module is found."""
    return Path("proofs", proof.relative_to(PACKAGE))


def write_proofs(nav: mkdocs_gen_files.Nav) -> None:
    """Write a page for each proof."""
    for proof in sorted(PACKAGE.rglob("*.md")):
        text = proof.read_text(encoding="utf-8")
        nav["Explanation", "Proofs", text.partition("\n")[0].lstrip("# ")] = proof_page(proof).as_posix()
        write(proof_page(proof), text)


def write_figure(figure: Any, page: str) -> None:
    """Write what was drawn; what is drawn alike is written alike."""
    with matplotlib.rc_context({"svg.hashsalt": page}), mkdocs_gen_files.open(page, "wb") as file:
        figure.savefig(file, format="svg", metadata={"Date": None})


def write_statistics() -> None:
    """Draw what an example draws, anew."""
    made: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "mean_and_median.py"))
    write_figure(made["figure"](made["runs"]()), "mean_and_median.svg")


def write_learners() -> None:
    """Put the table of learners, made of their docstrings, into its page; draw its figures and those of other pages."""
    made: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "learner_table.py"))
    text = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
    write(Path("learners.md"), text.replace(made["MARK"], made["table"]()))
    for figures in sorted(set((ROOT / "docs").glob("*_figures.py")) - {ROOT / "docs" / "gallery_figures.py"}):
        for page, draw in runpy.run_path(str(figures))["FIGURES"].items():
            write_figure(draw(), page)


def write_names() -> None:
    """Put the table of options, made of the declarations of statistics, into its page."""
    made: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "option_table.py"))
    text = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    write(Path("names.md"), text.replace(made["MARK"], made["table"]()))


def write_gallery() -> None:
    """Draw the gallery, and the figures of the page on epsilon."""
    made: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "gallery_figures.py"))
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    write(Path("gallery.md"), text + made["gallery"]())
    for page, draw in made["FIGURES"].items():
        write_figure(draw(), page)


def write_attacks() -> None:
    """Write the page of a real run of attacks, on made-up records."""
    write(Path("attack_demo.html"), joined(demo()))


def write_parts(nav: mkdocs_gen_files.Nav) -> None:
    """Put the pages that are written by hand into their parts."""
    here = {page.name: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))}
    titles = {name: text.partition("\n")[0].lstrip("# ") for name, text in here.items()}
    nav[titles.pop(HOME)] = HOME
    listed = {name for names in PARTS.values() for name in names}
    for part, names in PARTS.items():
        more = [name for name in titles if name not in listed] if part == "How to" else []
        for name in [*names, *more]:
            if name in titles:
                nav[part, titles[name]] = name
    for page in sorted((ROOT / "docs" / "wire").glob("*.md")):
        nav["Reference", page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")] = f"wire/{page.name}"


def main() -> None:
    """Write all pages and the navigation: the pages written by hand first."""
    write_learners()
    write_names()
    write_statistics()
    write_gallery()
    write_attacks()
    nav = mkdocs_gen_files.Nav()
    write_parts(nav)
    for room in ROOMS:
        write_room(nav, room)
    write_more(nav)
    write_proofs(nav)
    write(Path("SUMMARY.md"), "".join(nav.build_literate_nav()))


main()
