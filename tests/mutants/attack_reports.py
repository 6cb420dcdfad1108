"""Mistakes in reports of attacks, and in how models are opened."""

from __future__ import annotations

from tests.mutants.mutant import of

REPORT = "attacks/report/test_attack_report.py"
PICKLE = "query/models/test_allowed_pickle.py"

MUTANTS = [
    *of(
        "attacks/report/allowance",
        ("if not receipt.secret:", "if False:"),
        ("math.exp(min(self.epsilon, 700.0)) * false_positives + self.delta", "self.epsilon * false_positives"),
        ("across = 1 - math.exp(-self.epsilon) * (1 - self.delta - false_positives)", "across = 1.0"),
        ("odds / (1 - chance + odds) + self.delta", "odds / (1 + odds) + self.delta"),
        ("return Allowance(2 * self.epsilon,", "return Allowance(self.epsilon,"),
        ("return result.epsilon > math.log(", "return result.epsilon > 2 * math.log("),
    ),
    *of(
        "attacks/report/attack_report",
        ("sure = 1 - (1 - float(confidence)) / max(len(done), 1)", "sure = float(confidence)"),
        ("runs.sort(key=lambda run: (-run.result.epsilon", "runs.sort(key=lambda run: (run.result.epsilon"),
        ('f"It could not be run: it raised {type(why).__name__}."', 'f"It could not be run: it raised {why}."'),
        ("for result in self.succeeded for row in result.worst", "for result in self.results for row in result.worst"),
    ),
    *of(
        "attacks/report/attack_page",
        ("<h1>{safe(report.name)}</h1>", "<h1>{report.name}</h1>"),
        ("<p class='warning'><b>{safe(NOT_PRIVATE)}</b></p>", ""),
        ("<td>{unbroken(text)}</td></tr>", "<td>{text}</td></tr>"),
        tests=REPORT,
    ),
    *of(
        "attacks/report/advice",
        ("if report.beyond:", "if False:"),
        ("if not report.succeeded:", "if False:"),
        tests=REPORT,
    ),
    *of(
        "attacks/material",
        ("return own > luck + DEVIATIONS / math.sqrt(len(self.original))", "return True"),
        (
            "    except DiscreetError as why:\n        return Unfit",
            "    except ZeroDivisionError as why:\n        return Unfit",
        ),
        ("if self.fitted is None and not hasattr", "if False and not hasattr"),
        tests=REPORT,
    ),
    *of(
        "query/models/allowed_pickle",
        ("self._check(number or any(make is one for one in CALLED), ", "self._check(True, "),
        ("self._check(own and given == (), ", "self._check(own, "),
        ("self._check(not hidden and not called,", "self._check(not called,"),
        ("self._check(not hidden and not called,", "self._check(not hidden,"),
        ('self._check(name not in ("memory", "func") or value is None,', "self._check(True,"),
        ("inner = AllowedUnpickler(self._file, self._asked).load()", "inner = pickle.load(self._file)"),
        ("self._check(_is_plain(made, state) or _is_record(made, state),", "self._check(True,"),
        ("self._check(_fills(made, state),", "self._check(True,"),
        ("(side[inner] > own[inner]) & (side[inner] < len(nodes))", "side[inner] < len(nodes)"),
        ("(side[inner] > own[inner]) & (side[inner] < len(nodes))", "side[inner] > own[inner]"),
        ("((chosen >= 0) & (chosen < features)).all()", "(chosen >= 0).all()"),
        ('getattr(own, "n_features", None) == features', "True"),
        ("if len(packed) > MOST:", "if False:"),
        tests=PICKLE,
    ),
    *of(
        "query/models/allowed_classes",
        ("listed = name in ESTIMATORS.get(module, ()) or", "listed = module in ESTIMATORS or"),
        tests=PICKLE,
    ),
    *of(
        "query/models/model_file",
        ("if place.suffix in PICKLES:", "if False:"),
        ('if place.suffix in (*PICKLES, ".joblib") and trust_pickle:', 'if place.suffix in (*PICKLES, ".joblib"):'),
        ("return np.hstack([1 - rounded, rounded])", "return np.hstack([rounded, 1 - rounded])"),
        ("(np.abs(found - rounded) <= ROUNDED).all()", "(found == rounded).all()"),
        ("return np.array(sorted(found[0]))", "return None"),
    ),
    *of(
        "query/models/weights",
        ("values = np.hstack([np.zeros_like(values), values])", "values = np.hstack([values, np.zeros_like(values)])"),
        ("if len(layers) > 1 and activation not in ACTIVATIONS:", "if False:"),
        ("or not _chained(layers)", ""),
        ("weights_only=True", "weights_only=False"),
        tests="query/models/test_model_file.py",
    ),
    *of(
        "query/models/labelled_rows",
        ("if set(first) != set(second):", "if False:"),
        (
            "columns = zip(self.features, rows.T, strict=True)",
            "columns = zip(self.features[::-1], rows.T)",
        ),
        ("if missing or number != len(features):", "if missing:"),
    ),
    *of(
        "service/cli/attack_command",
        ("page.write_own(joined(reports))", "page.write(joined(reports))"),
        ("return BEYOND if any(report.beyond for report in reports) else DONE", "return DONE"),
        ("trust_pickle=arguments.trust_pickle", "trust_pickle=True"),
    ),
]
