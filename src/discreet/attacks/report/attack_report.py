"""Every attack that applies to a release, run, and what their results mean together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.attacks.attack_result import NOT_PRIVATE, WORST, AttackResult
from discreet.attacks.material import OTHER_KIND, Material, ModelMaterial, Prepared, Unfit, prepared
from discreet.attacks.report.advice import advice
from discreet.attacks.report.allowance import Allowance
from discreet.core.checks import is_number, shown
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.receipt import Receipt
from discreet.display.document import styled
from discreet.display.plain import plain
from discreet.releases.columns import Columns, Series
from discreet.releases.release import finite

ASKED = "attacks on a release"
NO_PROOF = "That is no proof: other attacks, other records or more of them may show more."
FIGURES = ("success", "low", "high", "chance", "epsilon, at least", "seconds", "questions")


@dataclass(frozen=True)
class RunAttack:
    """An attack that was run on a release.

    Parameters
    ----------
    result : AttackResult
        What it achieved, at a confidence that all attacks share.
    paper : str
        Where it is from.
    remedy : str
        What helps against it.
    """

    result: AttackResult
    paper: str
    remedy: str = ""


@dataclass(frozen=True)
class AttackReport:
    """What an adversary can do with a release, for its owner: NOT PRIVATE.

    Parameters
    ----------
    name : str
        Of the release.
    about : mapping of str to str
        What was attacked, in words: how many records, which columns.
    runs : tuple of RunAttack
        The attacks that were run, the most successful first.
    unfit : mapping of str to str
        The attacks that could not be run, and why.
    advice : tuple of str
        What to change.
    warnings : tuple of str
        What a reader must know before believing the figures.
    receipt : Receipt, optional
        Of the release.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.attacks import MembershipData, ModelMaterial
    >>> rng = np.random.default_rng(0)
    >>> data = MembershipData.of(rng.random((200, 2)), np.ones(200), rng.random((200, 2)), np.ones(200))
    >>> report = attacked(ModelMaterial(lambda rows: np.tile([0.5, 0.5], (len(rows), 1)), data), name="a coin")
    >>> report.succeeded, "NOT PRIVATE" in str(report)
    ((), True)
    """

    name: str
    about: Mapping[str, str]
    runs: tuple[RunAttack, ...] = field(repr=False)
    unfit: Mapping[str, str] = field(repr=False)
    advice: tuple[str, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    receipt: Receipt | None = None

    @property
    def results(self) -> tuple[AttackResult, ...]:
        """What the attacks achieved."""
        return tuple(run.result for run in self.runs)

    @property
    def succeeded(self) -> tuple[AttackResult, ...]:
        """The attacks that did better than chance, beyond what luck allows all of them together."""
        return tuple(result for result in self.results if result.beats_chance)

    @property
    def allowance(self) -> Allowance | None:
        """What the receipt allows."""
        return None if self.receipt is None else Allowance.of(self.receipt)

    @property
    def beyond(self) -> tuple[AttackResult, ...]:
        """The attacks on membership that went beyond what the receipt allows."""
        allowed = self.allowance
        return () if allowed is None else tuple(result for result in self.results if allowed.exceeded_by(result))

    @property
    def worst(self) -> tuple[int, ...]:
        """The rows that most of the successful attacks name, by number; the first record is row 0."""
        named = Counter(row for result in self.succeeded for row in result.worst)
        return tuple(row for row, _ in named.most_common(WORST))

    @property
    def unfit_here(self) -> dict[str, str]:
        """The attacks on releases of this kind that could not be run, and why."""
        return {name: why for name, why in self.unfit.items() if not why.startswith(OTHER_KIND)}

    @property
    def unfit_elsewhere(self) -> tuple[str, ...]:
        """The attacks on other kinds of release."""
        return tuple(name for name in self.unfit if name not in self.unfit_here)

    @property
    def title(self) -> str:
        """What was found, in a line."""
        tried = f"{len(self.runs)} attack{'s' if len(self.runs) != 1 else ''}"
        if not self.succeeded:
            if not self.runs:
                return f"{self.name}: no attack could be run, which shows nothing; below it says why."
            return f"{self.name}: none of {tried} did better than chance. {NO_PROOF}"
        best = self.succeeded[0]
        rest = f" {best.attack} is right in {100 * best.success:.1f} %; chance has {100 * best.chance:.1f} %."
        return f"{self.name}: {len(self.succeeded)} of {tried} did better than chance.{rest}"

    def lines(self) -> dict[str, str]:
        """What stands below the title and above the attacks."""
        allowed = self.allowance
        promise = {} if self.receipt is None else {"receipt": self.receipt.cost}
        if allowed is not None:
            rate = 100 * allowed.true_positives(0.01)
            promise["the receipt allows"] = f"{rate:.3g} % of members found at 1 % false accusations, at most"
        named = {"rows worst off": ", ".join(map(str, self.worst))} if self.worst else {}
        told = {f"warning {place}": text for place, text in enumerate(self.warnings, 1)}
        return {**self.about, **promise, **named, **told}

    def tabulated(self) -> Columns:
        """A row for each attack that was run."""
        found = [result.figures() for result in self.results]
        series = tuple(Series(name, np.array([one[name] for one in found])) for name in FIGURES)
        return Columns({"attack": [result.attack for result in self.results]}, series)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        runs = [{**run.result.to_dict(), "paper": run.paper} for run in self.runs]
        about: dict[str, Any] = {"name": self.name, **self.about, "note": NOT_PRIVATE, "attacks": runs}
        receipt = {} if self.receipt is None else {"receipt": self.receipt.to_dict()}
        beyond = [result.attack for result in self.beyond]
        return {
            **about,
            "not run": dict(self.unfit),
            "advice": list(self.advice),
            "warnings": list(self.warnings),
            "worst": list(self.worst),
            **receipt,
            "beyond the receipt": beyond,
        }

    def to_json(self) -> str:
        """The report as JSON; null for what is not a finite number."""
        return json.dumps(finite(self.to_dict()), allow_nan=False)

    def to_pandas(self) -> Any:
        """The figures of attacks as a pandas data frame, a row for each attack."""
        return self.tabulated().to_pandas(ASKED)

    def to_html(self) -> str:
        """The report as a page of its own: it needs no network and runs no script."""
        from discreet.attacks.report.attack_page import page

        return page(self)

    def __str__(self) -> str:
        lines = [NOT_PRIVATE, self.title, *(f"  {name}: {text}" for name, text in self.lines().items())]
        lines += [f"{result.title}; {_told(result)}" for result in self.results]
        lines += [f"beyond what the receipt allows: {result.attack}" for result in self.beyond]
        lines += [f"not run: {name}. {why}" for name, why in self.unfit_here.items()]
        lines += [f"for other kinds of release: {', '.join(self.unfit_elsewhere)}"] if self.unfit_elsewhere else []
        return "\n".join(map(plain, [*lines, *(f"to change: {text}" for text in self.advice)]))

    def _repr_html_(self) -> str:
        from discreet.attacks.report.attack_page import fragment

        return styled(fragment(self))


def attacked(
    material: Material, *, name: str = "release", receipt: Receipt | None = None, confidence: float = 0.95
) -> AttackReport:
    """Run every attack that can be made of the material, and say what they found. NOT PRIVATE: for the owner alone.

    Parameters
    ----------
    material : ModelMaterial or TableMaterial
        The release and what its owner knows.
    name : str
        Of the release.
    receipt : Receipt, optional
        Of the release, to say what it allows.
    confidence : float
        With which all intervals hold together: the attacks share the risk (Bonferroni).

    Examples
    --------
    >>> from discreet.attacks import TableMaterial
    >>> from discreet.schema.schema import Number, Schema
    >>> rows = np.random.default_rng(0).uniform(size=(300, 2))
    >>> schema = Schema({"a": Number(0, 1), "b": Number(0, 1)})
    >>> report = attacked(TableMaterial(rows[:150], rows[:150], schema, rows[150:]), name="a copy")
    >>> "NearestDistance" in {result.attack for result in report.succeeded}
    True
    """
    if not (is_number(confidence) and 0.5 <= confidence < 1):
        raise ParameterError(ASKED, f"confidence is {shown(confidence)}", "Give a confidence in [0.5, 1).")
    made = prepared(material)
    ran = {kind: _run(one) for kind, one in made.items() if isinstance(one, Prepared)}
    done = {kind: one for kind, one in ran.items() if isinstance(one, RunAttack)}
    sure = 1 - (1 - float(confidence)) / max(len(done), 1)
    runs = [replace(run, result=replace(run.result, confidence=sure)) for run in done.values()]
    runs.sort(key=lambda run: (-run.result.epsilon, -run.result.advantage))
    unfit = {kind: one.reason for kind, one in {**made, **ran}.items() if isinstance(one, Unfit)}
    warnings = tuple(dict.fromkeys(text for run in runs for text in run.result.warnings))
    report = AttackReport(name, _about(material), tuple(runs), unfit, (), warnings, receipt)
    return replace(report, advice=advice(material, report))


def _told(result: AttackResult) -> str:
    """The epsilon, and where it comes from, if not from all records together."""
    surest = result.beats_chance and result.interval[0] <= result.chance
    return f"epsilon at least {result.epsilon:.3g}{', by the records that it is surest of' if surest else ''}"


def _run(one: Prepared) -> RunAttack | Unfit:
    """What it achieved, or why it could not; a message of somebody else's code may quote a row, and is not shown."""
    try:
        result = one.attack.run(one.target)
    except DiscreetError as why:
        return Unfit(f"It could not be run: {why.obstacle}. {why.remedy}")
    except Exception as why:
        return Unfit(f"It could not be run: it raised {type(why).__name__}.")
    return RunAttack(result, one.attack.paper, str(getattr(one.attack, "remedy", "")))


def _about(material: Material) -> dict[str, str]:
    names = ", ".join(material.columns)
    columns = {"columns": names} if names else {}
    if isinstance(material, ModelMaterial):
        sizes = f"{len(material.data.members_X)} members, {len(material.data.others_X)} others"
        return {"attacked": f"a model ({material.kind})", "records": sizes, **columns}
    others = "none" if material.others is None else str(len(material.others))
    sizes = f"{len(material.released)} released, {len(material.original)} original, {others} others"
    return {"attacked": "a table", "records": sizes, **columns}
