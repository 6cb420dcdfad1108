"""The same as in SQL, step by step: choose and compute, group, and ask for several statistics at one price."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.select.selection import Aggregate, Selection
from discreet.query.words import Wording, named, statistic_asked, unknown
from discreet.questions.tables.cells import Edges
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.trust.private_data import PrivateData
from discreet.trust.telling import telling

ASKED = "aggregate"
WAYS = 'Write such as "mean of stay", "count" or "quantile of stay q=0.9".'


@dataclass(frozen=True)
class GroupedData:
    """Records by groups, to be asked for statistics of each; see `group_by`.

    Parameters
    ----------
    data : PrivateData
        The records.
    by : tuple of str
        Public. The columns that make groups; none, where all records are one.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers that make groups.
    """

    data: PrivateData
    by: tuple[str, ...] = ()
    edges: Edges | None = None

    def selection(self, *words: str, budget: Budget, confidence: float = CONFIDENCE, **labelled: str) -> Selection:
        """What would be asked: refused here, if it may not be."""
        every = [(text, text) for text in words] + list(labelled.items())
        asked = tuple(_aggregate(label, text) for label, text in every)
        return Selection(self.data, asked, budget, self.by, self.edges, confidence)

    def aggregate(
        self,
        *words: str,
        epsilon: float = 1.0,
        delta: float = 0.0,
        confidence: float = CONFIDENCE,
        key: str | None = None,
        **labelled: str,
    ) -> Table:
        """Release several statistics of every group, at one price that is paid first.

        Parameters
        ----------
        *words, **labelled : str
            Public. The statistics in words, such as "count", "mean of stay", "quantile of stay q=0.9"; by name, where
            their columns shall have one.
        epsilon, delta : float
            Public. What they may cost together. Groups that only the data know need a delta.
        confidence : float
            Public. Of each interval.
        key : str, optional
            Public. Makes a retry safe.
        """
        budget = Budget(epsilon, delta)
        selection = self.selection(*words, budget=budget, confidence=confidence, **labelled)
        asked = ", ".join([*words, *(f"{text} as {label}" for label, text in labelled.items())])
        purpose = f"{asked}{f' by {chr(32).join(self.by)}' if self.by else ''}"
        if not self.data.elsewhere:
            return selection.released(purpose, key)
        said = {
            "by": [*self.by],
            "words": [*words],
            "labelled": labelled,
            "edges": self.edges,
            "confidence": confidence,
        }
        with telling(self.data, {"groups": said}, budget):
            return selection.released(purpose, key)


def group_by(data: PrivateData, *by: str, edges: Edges | None = None) -> GroupedData:
    """Records by groups, to be asked for several statistics of each at one price.

    Parameters
    ----------
    data : PrivateData
        The records, after `where` and `derive`.
    *by : str
        Public. The columns that make groups: with listed values, with a step, or with edges; or one whose values only
        the data know.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers.

    Examples
    --------
    >>> visits = {"stay": [2.0, 4.0] * 500, "ward": ["day"] * 500 + ["icu"] * 500}
    >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
    >>> table = group_by(data.derive(hours="stay * 24"), "ward").aggregate("count", "mean of hours", epsilon=9.0)
    >>> [series.name for series in table.series], bool(abs(table["mean of hours"].values[0] - 72) < 20)
    (['count', 'mean of hours'], True)
    """
    return GroupedData(data, by, edges)


def _aggregate(label: str, text: str) -> Aggregate:
    if not isinstance(text, str):
        raise ParameterError(ASKED, f"{text!r:.60} is no text", WAYS)
    words = Wording.of(text)
    found = named(words) if words.words else None
    if found is None:
        raise unknown(f"{ASKED} {text!r:.60}", words.words[0] if words.words else "", WAYS)
    function, columns = found
    for name in ("by", "where", "epsilon", "delta", "key", "edges"):
        if name in words.options:
            raise ParameterError(f"{ASKED} {text!r:.60}", f"{name} is said of one statistic", "Say it of all of them.")
    return Aggregate(label, statistic_asked(f"{ASKED} {text!r:.60}", function, columns, words.options))
