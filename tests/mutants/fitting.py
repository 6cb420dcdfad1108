"""Mistakes of what all estimators share, and of runs that are given whole records."""

from __future__ import annotations

from tests.mutants.mutant import of

MLP = "deep/models/test_private_mlp.py::test_"
FAIR = "deep/fair/test_fair_classifier.py::test_"
LOCAL = "local/means/test_one_pass_sgd.py"

MUTANTS = [
    *of(
        "deep/questions/records_as_tensors",
        ("if view.unit.rows != 1 or view.neighbors is not Neighbors.ADD_REMOVE:", "if False:"),
        ("found is None or found[0] is not held", "found is None"),
        ("found is None or found[0] is not held", "True"),
        tests="deep/questions/test_sampled_gradient.py",
    ),
    *of(
        "core/inherited_docs",
        ("found |= {name: text for name, text in one.items() if name not in found}", "found |= one"),
        ("docs = [vars(one).get(WRITTEN, one.__doc__) for one", "docs = [one.__doc__ for one"),
        ("for name in names if name in known}", "for name in known}"),
        ('if not str(said).startswith("ClassVar")]', "]"),
    ),
    *of(
        "local/means/vector_report",
        ("reports.shape[1:] != (self.numbers,)", "False"),
        ("if wrong := self.misfit(reports):", 'if wrong := "":'),
        tests="local/subspaces/test_product_report.py local/means/test_privunit_vector.py",
    ),
    *of(
        "local/attributes/sampled_attribute",
        ("if any(len(person) != attributes for person in values):", "if False:"),
        ("if not 2 <= len(self.domains) <= MOST_ATTRIBUTES:", "if False:"),
        tests="local/attributes/test_sampled_attribute.py local/attributes/test_fake_data.py",
    ),
    *of(
        "fitting/private_estimator",
        ('for name in ("bounds", "classes", "target_bounds"):', 'for name in ("bounds",):'),
        ("task.schema.number(str(task.target))", "pass"),
    ),
    *of(
        "fitting/task",
        ("if name not in (target, *others))", "if name != target)"),
        tests=f"{FAIR}a_pipeline_and_a_search_end_with_it_and_keep_the_groups_apart",
    ),
    *of(
        "deep/questions/records_as_tensors",
        (
            "TensorsView(*self._of(view), view.bits)",
            'TensorsView(*self._of(view), __import__("discreet.noise.system_bits", fromlist=["bits"]).system_bits())',
        ),
        tests=f"{MLP}samples_and_noise_come_from_the_bits_of_the_curator",
    ),
    *of(
        "deep/models/private_mlp",
        ("known = records[np.isfinite(records).all(axis=1)]", "known = np.nan_to_num(records)"),
        tests=f"{MLP}records_that_cannot_be_read_count_for_nothing",
    ),
    *of(
        "deep/fair/fair_classifier",
        ('if self.protects != "record":', "if False:"),
        tests=f"{FAIR}private_data_of_which_the_attribute_alone_would_be_hidden_are_refused",
    ),
    *of(
        "deep/fair/fair_classifier",
        ("if key is not None:", "if False:"),
        tests=f"{FAIR}a_key_gives_the_network_of_records_again_and_is_refused_for_that_of_an_attribute",
    ),
    *of(
        "local/means/one_pass_sgd",
        ("if not task.data.local:", "if False:"),
        ("if task.data.condition is not None:", "if False:"),
        ("np.array_split(np.arange(len(rows)), steps)", "[np.arange(len(rows))] * steps"),
        tests=LOCAL,
    ),
]
