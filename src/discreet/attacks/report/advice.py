"""What the owner of a release can change after it was attacked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.attacks.material import Material, ModelMaterial

if TYPE_CHECKING:
    from discreet.attacks.report.attack_report import AttackReport

MODEL = (
    "Train with differential privacy: `discreet.learners` has scikit-learn estimators, `discreet.deep` trains networks."
    " Epsilon then bounds every attack on membership, also those that nobody has thought of."
)
TABLE = (
    "Give away a table that was made with differential privacy: discreet synthesize FILE --schema SCHEMA --out TABLE"
    " --epsilon E. Its receipt then bounds every attack."
)
KEPT = "Keep others away from what was attacked until then: an attack that succeeds once cannot be taken back."
BEYOND = (
    "An attack went beyond what the receipt allows. Either the receipt is that of another release, or of another unit"
    " (a person with several rows), or members and others were not drawn alike, or the promise is broken: run `discreet"
    " audit` on what made the release."
)
SILENT = (
    "Nothing was found with these attacks and records. Without a receipt that says nothing of others: a promise"
    " bounds all of them."
)
HELD = "Keep the receipt with the release. Other releases about the same people add to its epsilon."


def advice(material: Material, report: AttackReport) -> tuple[str, ...]:
    """What to change, what matters most first."""
    if report.beyond:
        return (BEYOND, KEPT)
    if not report.succeeded:
        return (SILENT,) if report.receipt is None else (HELD,)
    own = [run.remedy for run in report.runs if run.result.beats_chance and run.remedy]
    return tuple(dict.fromkeys([_twin(material), *own, KEPT]))


def _twin(material: Material) -> str:
    """The private estimator of the same name, if there is one."""
    if not isinstance(material, ModelMaterial):
        return TABLE
    from discreet import learners

    room, _, name = material.kind.rpartition(".")
    if name not in learners.__all__:
        return MODEL
    if room.startswith("discreet"):
        return "The model was trained with differential privacy already: a smaller epsilon allows less."
    return f"Take `discreet.learners.{name}`, the private estimator of the same name. {MODEL}"
