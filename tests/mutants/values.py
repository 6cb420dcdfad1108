"""Mistakes in how values come in: one record that decides how others are read, or whether anything happens."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "schema/value",
        ("return isinstance(value, np.timedelta64) or (", "return ("),
        ("    except Exception:  # too large, or with methods of its own that fail", "    except ValueError:"),
        tests="trust/sources/columns/test_raw_values.py",
    ),
    *of(
        "trust/sources/columns/raw_values",
        (
            "    if wide == SINGLE:\n        return objects(listed)",
            "    if wide == SINGLE:\n        return np.array(listed)",
        ),
        ("row if _width(row) == wide else repeat(None, wide)", "row"),
        ("(-counts[width], width != expected, width)", "(width != expected, -counts[width], width)"),
        ("(-counts[width], width != expected, width)", "(-counts[width], width)"),
        ("found.shape == shape and found.dtype.kind not in", "found.dtype.kind not in"),
        ('and found.dtype.kind not in "mMcV"', ""),
        ("or len(given) != shape[0]:", "or len(given) < shape[0]:"),
    ),
    *of(
        "trust/sources/source_of",
        ("if all(plain) or records.ndim != 2", "if True or records.ndim != 2"),
        ("array_of(records, len(schema.columns))", "np.asarray(records)"),
        tests="trust/sources/columns/test_raw_values.py",
    ),
    *of(
        "trust/exact_sum",
        ("        if found.shape == (len(records), question.size):\n            return found", "        return found"),
        ("    except Exception:  # see above\n        pass", "    except KeyError:\n        pass"),
        (
            "np.concatenate([contributions(question, half) for half in np.array_split(records, 2)])",
            "np.zeros((len(records), question.size))",
        ),
        (
            "    except Exception:  # as for `contributions`\n        return None",
            "    except KeyError:\n        return None",
        ),
        ("return found if found.shape == (question.size,) else None", "return found"),
    ),
    *of(
        "trust/curator",
        ("            check_made_up(question, self.schema)", "            pass"),
        tests="trust/test_permit.py",
    ),
    *of(
        "trust/local",
        ("contributions(question, records).astype", "question.steps(records).astype"),
        tests="trust/test_permit.py",
    ),
    *of(
        "learners/selection/row_by_row",
        ("for some in (places, places[::2], places[:1] * 3):", "for some in ():"),
        ("rtol=0.0, atol=NEAR", "rtol=0.0, atol=9.0"),
        ("else np.arange(len(rows))[:, None]", "else (np.flatnonzero(gaps), np.flatnonzero(~gaps))"),
    ),
    *of(
        "schema/made_up_rows",
        ("    return [rows, gaps]", "    return [rows]"),
        tests="learners/selection/test_row_by_row.py",
    ),
    *of(
        "sequential/reading",
        ("np.where(known, found, -1.0)", "np.where(known, found, 0.0)"),
        (
            "return numbers_in(value, given_shape(value, () if size == 1 else (size,)))",
            "return np.asarray(value, float)",
        ),
        ("found, 0.0) if found.ndim else found", "found, 1.0) if found.ndim else found"),
        ("    if found != expected:", "    if False:"),
    ),
    *of(
        "sequential/series/series_stream",
        ("        return sums[:-1]", "        return sums[1:]"),
        ("np.zeros(self.series + 1, np.int64)", "np.zeros(self.series, np.int64)"),
        tests="conformance/test_odd_values.py::test_series_take_odd_values_and_places_for_missing_ones",
    ),
    *of(
        "graphs/graph_data",
        ('SEPARATORS = ",;\\t" + BLANKS', 'SEPARATORS = ",\\t" + BLANKS'),
        ('SEPARATORS = ",;\\t" + BLANKS', "SEPARATORS = BLANKS"),
        ("data[len(mark) :]", "data"),
        ("    if '\"' not in line:", "    if True:"),
        (">= 0).all(axis=1)", ">= 0).any(axis=1)"),
        tests="graphs/test_graph_data.py",
    ),
    *of(
        "graphs/graph_data",
        ("found = array_of(edges, 2)", "found = np.array(edges, dtype=object)"),
    ),
    *of(
        "deep/fair/sensitive_attribute",
        ("    raw = array_of(values)\n", "    raw = np.asarray(values)\n"),
        ("nan=-1.0", "nan=0.0"),
    ),
    *of(
        "local/means/one_pass_sgd",
        ("np.where(np.isfinite(features).all(axis=1), inside, np.nan)", "inside"),
        tests="local/means/test_one_pass_sgd.py",
    ),
    *of(
        "fitting/task",
        ("if set(given) & set(described) and given != described:", "if False:"),
    ),
]
