"""Private tables: records that are made up from noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.checks import check_one_of, check_positive, check_seed, check_whole
from discreet.core.condition import Condition
from discreet.core.errors import NotPermitted, SchemaError
from discreet.microdata.synthetic.adaptive_method import AdaptiveMethod
from discreet.microdata.synthetic.compared_tables import ComparedTables
from discreet.microdata.synthetic.contingency_method import ContingencyMethod
from discreet.microdata.synthetic.diffgen_method import DiffgenMethod
from discreet.microdata.synthetic.made_up_records import MadeUpRecords
from discreet.microdata.synthetic.mwem_method import MwemMethod
from discreet.microdata.synthetic.privbayes_method import PrivbayesMethod
from discreet.microdata.synthetic.synthesis import MOST_ROWS, TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.microdata.synthetic.tree_method import TreeMethod
from discreet.questions.tables.coded_tables import TableCodes
from discreet.releases.ask import ColumnsOf
from discreet.releases.declaration import Refusal
from discreet.releases.joint_plan import JointPlan
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import OfTheseData, statistic
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Schema, Text

BINS = 16
CELLS = 0.1  # share of the information that the budget pays for that goes to the cells of numbers
MOST_DISTANCES = 0.5  # share of the price that may go to distances
METHODS: dict[str, type[SynthesisMethod]] = {
    "tree": TreeMethod,
    "adaptive": AdaptiveMethod,
    "contingency": ContingencyMethod,
    "mwem": MwemMethod,
    "privbayes": PrivbayesMethod,
    "diffgen": DiffgenMethod,
}


@statistic(
    delta=1e-6,
    no_by="its columns make groups already: name those that make groups among them",
    no_population=Refusal("its records are made up", "Ask a statistic about the population."),
)
def synthesize(
    records: RecordsOf,
    columns: Sequence[str] | None = None,
    *,
    method: str = "tree",
    bins: int = BINS,
    rows: int | None = None,
    constraints: Sequence[str] = (),
    degree: int | None = None,
    target: str | None = None,
    distances: float = 0.0,
    random_state: int | None = None,
    confidence: float = CONFIDENCE,
    **_: Unpack[OfTheseData],
) -> SyntheticTable:
    """Release a table of made-up records that resembles the data in its columns and in many of their pairs.

    Numbers are cut into cells by noisy counts: about `bins` with equally many values, and one of its own for each value
    that is frequent. All columns are counted; the pairs that are farthest from independence, as far as they make no
    circle, are chosen and counted; then those that this tree fits worst, where their tables are worth their noise; the
    nearest counts that agree and are not negative are found; and records are counted out, not drawn: a cell has as many
    as it should, up to one. A missing value is a value of its own. Where nobody holds all records, all pairs are
    counted, with more noise, and a tree of them is chosen afterwards.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Of which the table consists; by default all whose values are public.
    method : {"tree", "adaptive", "contingency", "mwem", "privbayes", "diffgen"}
        Public. What is counted. "adaptive": again and again the table that is fitted worst (AIM: McKenna et al. 2022);
        take it to train a model. "contingency": all tables of `degree` columns (Barak et al. 2007). "mwem": those that
        would be most wrong (Hardt, Ligett and McSherry 2012). Both hold a table of all columns, so these must be few.
        "privbayes": a Bayesian network (Zhang et al. 2017). "diffgen": cuts of columns where the classes of `target`
        differ (Mohammed et al. 2011). The last three choose by all records, which takes a curator.
    bins : int
        Public. About how many cells a number has; all its values, if it has no more.
    rows : int, optional
        Public. How many records the table has; by default about as many as there are, with at most 4,194,304 values.
    constraints : sequence of str
        Public. Conditions that every record fulfils by its nature, such as "end >= start": records that do not are
        made up again. A value that is missing contradicts none, unless the condition says so. Whether the data fulfil
        them does not matter; where hardly any record does, the table has fewer.
    degree : int, optional
        Public. Of "adaptive", "mwem" and "contingency", how many columns a table has at most, by default 3, 3 and 2; of
        "privbayes", how many columns another one depends on at most, by default 2.
    target : str, optional
        Public. Of "diffgen", the column of classes; of "adaptive", a column that is to be kept best.
    distances : float
        Public. The share of the price, at most one half, for measuring how far all tables of up to three columns are
        off: then any count in them has a bound. Needs a curator.
    random_state : int, optional
        Public. Seeds the counting out of records, which is no secret; the noise is drawn apart.

    Returns
    -------
    SyntheticTable
        The records, and the noisy counts that they were made from; its `count` has a standard error. Nothing else is
        released.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: noisy counts of the cells of numbers, of columns and of
    pairs, each a bounded sum, and the choices of pairs (`SpanningTree`, `TopK`), composed. All else is post-processing.
    The tree is that of MST, McKenna, Miklau and Sheldon 2021; counts are fused by least squares. Other methods are
    noisy counts too, and choices by the exponential mechanism, composed: what they change of what was published, for
    the price to hold, is said where they are defined.

    Examples
    --------
    >>> people = {"smokes": ["yes", "no", "no", "no"] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> yes_no = ["yes", "no"]
    >>> table = synthesize(people, bounds={"smokes": yes_no, "ill": yes_no}, epsilon=2.0, random_state=1)
    >>> both = np.mean((table["smokes"] == "yes") & (table["ill"] == "yes"))
    >>> bool(abs(both - 0.25) < 0.05)
    True
    """
    subject = records.opened() if columns is None else records.columns(columns)
    names = _columns(subject.data.schema) if columns is None else tuple(columns)
    of = ColumnsOf(subject.data, subject.data.schema.values(names), budget=subject.budget, key=subject.key)
    check_one_of(TITLE, "method", method, tuple(METHODS))
    check_whole(TITLE, "bins", bins, least=2, most=2**8)
    check_seed(TITLE, random_state)
    for number in (rows, of.data.public_size):
        check_whole(TITLE, "rows", number or 0, least=0, most=MOST_ROWS)
    conditions = tuple(condition_of(text, of.schema) for text in constraints)
    plan = METHODS[method].of(_layout(of, int(bins), conditions, degree, target))
    counted = len(plan.layout.counted)
    share = CELLS / (CELLS + (1 - CELLS) * plan.weight) if counted else 0.0
    leaves = (plan.layout.noise(share / counted),) * counted if counted else ()
    if not (isinstance(distances, int | float) and distances == 0):
        check_positive(TITLE, "distances", distances, least=2.0**-10, most=MOST_DISTANCES)
    if distances and not of.data.curated:
        raise NotPermitted(TITLE, "nobody holds all records, so nobody can compare tables", "Leave out distances.")
    compared = (plan.layout.noise(distances / (1 - distances)),) if distances else ()
    joint = calibrate(JointPlan((*leaves, *plan.parts(1 - share), *compared)), of.budget)
    about = TITLE, of.columns, method, int(bins), rows, tuple(constraints), degree, target, distances, random_state
    with of.data.permit(joint.event, TITLE, key=of.key) as permit:
        generator = np.random.default_rng(permit.random_state(random_state))

        def made() -> dict[str, Any]:
            asker, cells = TableAsker.counted(permit, of, plan.layout, joint.mechanisms)
            own = joint.mechanisms[len(leaves) : len(joint.mechanisms) - len(compared)]
            model = plan.made(asker, own)
            records = MadeUpRecords(model, cells, conditions).drawn(rows, generator)
            kept = {"records": records, "edges": [list(each) for each in asker.codes.edges], "model": model.to_notes()}
            if compared:
                kept["compared"] = ComparedTables.asked(asker, records, model.total, joint.mechanisms[-1]).to_notes()
            return kept

        kept = permit.artefact(made, about)
    schema = Schema({name: of.schema.columns[name] for name in of.columns})
    codes = TableCodes.of(schema, of.columns, kept["edges"])
    return SyntheticTable(
        name=TITLE,
        receipt=permit.receipt,
        confidence=confidence,
        schema=schema,
        records=np.asarray(kept["records"]),
        model=plan.kept(codes, kept["model"]),
        compared=ComparedTables.of_notes(codes, kept["compared"]) if compared else None,
        laplace=plan.layout.pure and of.data.reports == 1,
    )


def _columns(schema: Schema) -> tuple[str, ...]:
    names = tuple(name for name, column in schema.columns.items() if not isinstance(column, Text))
    if not names:
        remedy = "List their values in the schema, or buy them with discreet.learners.buy_categories."
        raise SchemaError(TITLE, "all columns are text", remedy)
    return names


def _layout(
    of: ColumnsOf, bins: int, conditions: Sequence[Condition], degree: int | None, target: str | None
) -> TableLayout:
    """What is known of the table; constraints and a target have to be of its columns."""
    named = [name for condition in conditions for name in condition.columns] + ([] if target is None else [target])
    for name in named:
        if name not in of.columns:
            raise SchemaError(TITLE, f"{name!r:.80} is none of its columns", f"There are {', '.join(of.columns)}.")
    places = [sorted(of.columns.index(name) for name in set(condition.columns)) for condition in conditions]
    together = tuple({pair: None for own in places for pair in combinations(own, 2)})
    keeps = None if target is None else of.columns.index(target)
    return TableLayout(of.schema, of.columns, bins, of.budget.delta == 0, of.data.curated, together, degree, keeps)
