"""What an attack achieved, beside what anybody could have guessed, in the forms in which it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from discreet.attacks.membership_scores import MembershipScores
from discreet.core.errors import ParameterError
from discreet.display.notebook import carded, facts, grid
from discreet.display.plain import plain
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on
from discreet.releases.release import finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from discreet.attacks.attack import ThreatModel

NOT_PRIVATE = "NOT PRIVATE: this was computed with the truth at hand. Show it to nobody who may not see the records."
RATES = (0.01, 0.001)  # false-positive rates at which a membership attack is judged
SHARES = (1.0, 0.1, 0.02)  # of the records: how many guesses are counted when an epsilon is looked for
WORST = 10  # rows that are named
RARE = 1e-4  # the risk that scores which say nothing are said to be opposed
OPPOSED = (
    "Members have lower scores than others, more than luck allows: the target treats them in another way than this"
    " attack expects, and whoever turns its guesses round is right more often than by chance."
)


@dataclass(frozen=True)
class AttackResult:
    """What an attack achieved.

    Parameters
    ----------
    attack : str
        Its name.
    threat : ThreatModel
        What its adversary had in hand.
    measure : str
        What was counted, such as "records linked to the right person".
    right, trials : int
        How often the adversary was right, and of how many.
    chance : float
        The rate of the best guess without the target.
    seconds : float
        What it took.
    questions : int
        How often the target was asked: rows of a model, queries of an interface.
    wrong : int, optional
        Answers that were wrong, for an attack that may keep silent; by default all that were not right.
    scores : MembershipScores, optional
        For attacks that tell members from others.
    worst : tuple of int
        The rows that are worst off, the worst first.
    details : mapping
        Further figures, by name.
    warnings : tuple of str
        What a reader must know before believing the figures.
    confidence : float
        Of the interval.

    Notes
    -----
    The interval is Clopper and Pearson's, exact for independent trials. `epsilon` is the least one that the lower end
    leaves possible. A guess of a record's secret, whose prior probability is at most p, is right with probability at
    most p e^epsilon / (1 - p + p e^epsilon) under pure differential privacy: by Bayes' rule, since the output's
    probability changes by at most e^epsilon between any two values of the secret. For many records of one target,
    each in or out by a coin of its own, the number of right guesses is bounded by that many independent ones (Steinke,
    Nasr and Jagielski 2023); for records that were not drawn so it is an estimate, and no audit.

    Examples
    --------
    >>> from discreet.attacks.attack import ThreatModel
    >>> result = AttackResult("guess", ThreatModel("labels", "nothing"), "bits guessed", 90, 100, 0.5, 0.1, 100)
    >>> result.success, [round(end, 3) for end in result.interval], round(result.epsilon, 2)
    (0.9, [0.824, 0.951], 1.63)
    """

    attack: str
    threat: ThreatModel
    measure: str
    right: int
    trials: int
    chance: float
    seconds: float
    questions: int
    wrong: int | None = None
    scores: MembershipScores | None = field(default=None, repr=False)
    worst: tuple[int, ...] = field(default=(), repr=False)
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not (0 <= self.right <= self.trials and self.trials > 0 and 0 <= self.chance <= 1):
            obstacle = f"{self.right} of {self.trials} are right, and chance has {self.chance}"
            raise ParameterError(self.attack, obstacle, "Give 0 <= right <= trials, trials > 0, chance in [0, 1].")

    @classmethod
    def of_scores(
        cls,
        attack: str,
        threat: ThreatModel,
        scores: MembershipScores,
        *,
        seconds: float,
        questions: int,
        rows: NDArray[np.intp] | None = None,
        **rest: Any,
    ) -> AttackResult:
        """The result of an attack on membership, from its scores; `rows` are those of the members that have one."""
        trials = len(scores.members) + len(scores.others)
        chance = max(scores.share, 1 - scores.share)
        places = scores.worst_off[:WORST]
        worst = tuple((places if rows is None else rows[places]).tolist())
        right, measure = scores.guessed_right, "records called member or not, rightly"
        opposed = MembershipScores(-scores.members, -scores.others)
        told = (OPPOSED,) if _epsilon_of(opposed, trials, chance, RARE) > 0 else ()
        warnings = (*rest.pop("warnings", ()), *told)
        return cls(
            attack,
            threat,
            measure,
            right,
            trials,
            chance,
            seconds,
            questions,
            scores=scores,
            worst=worst,
            warnings=warnings,
            **rest,
        )

    @property
    def success(self) -> float:
        """How often the adversary was right."""
        return self.right / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval of the success."""
        low, high = stats.binomtest(self.right, self.trials).proportion_ci(self.confidence, method="exact")
        return float(low), float(high)

    @property
    def advantage(self) -> float:
        """Success above chance, as a share of what chance leaves: 0 without information, 1 for certainty."""
        return (self.success - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0

    @property
    def beats_chance(self) -> bool:
        """Whether the target gave something away, beyond what the interval allows by luck."""
        return self.epsilon > 0

    @property
    def epsilon(self) -> float:
        """Under a pure epsilon below this one, such a success would be impossible, with the stated confidence."""
        if self.scores is None:
            return _least_epsilon(self.right, self.trials, self.chance, 1 - self.confidence)
        return _epsilon_of(self.scores, self.trials, self.chance, 1 - self.confidence)

    @property
    def title(self) -> str:
        """What was achieved, in a line."""
        low, high = self.interval
        return (
            f"{self.attack}: {self.right} of {self.trials} {self.measure} ({100 * self.success:.1f} %,"
            f" {100 * low:.1f} to {100 * high:.1f}); without the target {100 * self.chance:.1f} %"
        )

    def rates(self) -> dict[str, float]:
        """The area under the curve and the true-positive rates at few false positives, for attacks on membership."""
        if self.scores is None:
            return {}
        return {
            "area under the curve": self.scores.area,
            **{f"true positives at {100 * rate:g} % false": self.scores.rate_at(rate) for rate in RATES},
        }

    def figures(self) -> dict[str, float]:
        """All figures, by name."""
        silent = {} if self.wrong is None else {"wrong answers": self.wrong / self.trials}
        low, high = self.interval
        return {
            "success": self.success,
            "low": low,
            "high": high,
            "chance": self.chance,
            **silent,
            **self.rates(),
            "epsilon, at least": self.epsilon,
            "seconds": self.seconds,
            "questions": self.questions,
        }

    def lines(self) -> dict[str, str]:
        """What stands below the title."""
        figures = {name: f"{value:.4g}" for name, value in {**self.figures(), **self.numbers()}.items()}
        named = {"rows worst off": ", ".join(map(str, self.worst[:WORST]))} if self.worst else {}
        told = {f"warning {place}": text for place, text in enumerate(self.warnings, 1)}
        return {**self.threat.lines(), **figures, **named, **told, "note": NOT_PRIVATE}

    def numbers(self) -> dict[str, float]:
        """The further figures that are numbers."""
        return {name: value for name, value in self.details.items() if isinstance(value, int | float)}

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "attack": self.attack,
            "threat": self.threat.lines(),
            "measure": self.measure,
            "right": self.right,
            "trials": self.trials,
            **self.figures(),
            "worst": list(self.worst),
            "details": dict(self.details),
            "warnings": list(self.warnings),
            "note": NOT_PRIVATE,
        }

    def to_json(self) -> str:
        """The result as JSON; null for what is not a finite number."""
        return json.dumps(finite(self.to_dict()), allow_nan=False)

    def to_pandas(self) -> Any:
        """The figures as a pandas data frame, a row for each."""
        figures = {**self.figures(), **self.numbers()}
        values = np.array([*figures.values()], dtype=np.float64)
        return Columns({"figure": [*figures]}, (Series("value", values),)).to_pandas(self.attack)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the ROC curve on logarithmic axes, or the success with its interval beside chance."""
        ax = drawn_on(self.attack, ax)
        if self.scores is None:
            self._draw_success(ax)
        else:
            self._draw_curve(ax, self.scores)
        ax.set_title(self.attack)
        return ax

    def _draw_success(self, ax: Axes) -> None:
        low, high = self.interval
        ax.bar([self.measure], [self.success], yerr=[[self.success - low], [high - self.success]], capsize=6)
        ax.axhline(self.chance, linestyle="--", color="grey", label="without the target")
        ax.set_ylim(0, 1)
        ax.legend()

    def _draw_curve(self, ax: Axes, scores: MembershipScores) -> None:
        wrong, right = scores.curve
        least = 1 / (2 * self.trials)
        ax.plot([least, 1], [least, 1], linestyle="--", color="grey", label="chance")
        ax.step(wrong.clip(least), right.clip(least), where="post", label=f"area {scores.area:.3f}")
        ax.set(xscale="log", yscale="log", xlabel="false-positive rate", ylabel="true-positive rate")
        ax.legend()

    def __str__(self) -> str:
        return "\n".join(map(plain, [self.title, *(f"  {name}: {text}" for name, text in self.lines().items())]))

    def _repr_html_(self) -> str:
        rows = [(name, f"{value:.4g}") for name, value in self.figures().items()]
        return carded(grid(self.title, ("figure", "value"), rows), facts(self.lines()))


def _epsilon_of(scores: MembershipScores, trials: int, chance: float, risk: float) -> float:
    """The largest of those that the surest guesses show, of several shares of all; they have the risk together."""
    guesses = {max(2, round(share * trials)) for share in SHARES}
    each = risk / len(SHARES)
    return max(_least_epsilon(min(scores.right_of_ends(some), some), some, chance, each) for some in guesses)


def _least_epsilon(right: int, trials: int, chance: float, risk: float) -> float:
    """The epsilon whose best rate is the lower end of the one-sided exact interval."""
    if right == 0 or chance >= 1:
        return 0.0
    low = float(stats.beta.ppf(risk, right, trials - right + 1))
    if low <= chance:
        return 0.0
    return math.inf if chance == 0 else math.log(low * (1 - chance) / (chance * (1 - low)))
