"""Mistakes in commands that give tables away."""

from __future__ import annotations

from tests.mutants.mutant import of

SYNTHESIZE = "service/cli/tables/test_synthesize_command.py"
ANONYMIZE = "service/cli/tables/test_anonymize_command.py"

MUTANTS = [
    *of(
        "service/cli/tables/synthesize_command",
        ("if arguments.report is not None and not given:", "if False:"),
        ("if arguments.waiver is not None and arguments.report is None:", "if False:"),
        ("delta = DELTA if data.ledger.budget.delta > 0 else 0.0", "delta = DELTA"),
        ('"constraints": arguments.constraint', '"constraints": ()'),
        ('return {"report": str(page.path), "warning": NOT_PRIVATE}', 'return {"report": str(page.path)}'),
        ("page.write_own(", "page.write("),
        ("arguments.ledger, out.path))", "arguments.ledger))", "the part beside the file is in the way already"),
        (
            "        finally:\n            out.say(",
            "        except ZeroDivisionError:\n            raise\n        else:\n            out.say(",
        ),
        ("    check_account(arguments)\n", ""),
        ('            data.check_curated(f"{ASKED} --report")', "            pass"),
    ),
    *of(
        "service/cli/tables/table_file",
        ("if self._ending not in ENDINGS:", "if False:"),
        ("if not data.is_file() and place.parent in {file.resolve().parent for file in there}:", "if False:"),
        ("(*there, arguments.schema, arguments.ledger)", "()"),
        ('if self._ending == ".csv" else', 'if self._ending != ".csv" else'),
        tests=SYNTHESIZE,
    ),
    *of("service/cli/saying", ("why), out.remedy, out.consequence)", "why), out.remedy)"), tests=SYNTHESIZE),
    *of(
        "service/cli/tables/anonymize_command",
        ("    _check_waiver(arguments)\n", ""),
        ("described.roles.to_dict() | own", "own"),
        ("described.roles.to_dict() | own", "own | described.roles.to_dict()"),
        ('{**table.notes, "warning": WARNING}', "table.notes"),
        tests=ANONYMIZE,
    ),
    *of(
        "service/cli/tables/check_command",
        ("found |= {name: numbers_of(found[name]) for name in roles.sensitive}", "pass"),
        (
            "found |= {name: numbers_of(found[name]) for name in roles.sensitive}",
            "found = {name: numbers_of(found[name]) for name in found}",
        ),
        ("page.write_own(", "page.write("),
        ("ordered=arguments.ordered or ()", "ordered=()"),
        ("keep = (arguments.file, arguments.roles)", "keep = ()"),
        ("found[name] += column.to_pylist()", "found[name] = column.to_pylist()"),
    ),
    *of(
        "query/roles_file",
        ("if not isinstance(role, str) or role not in ROLES:", "if False:"),
        ("if not own:", "if False:"),
    ),
    *of(
        "query/toml_file",
        ("if len(data) > MOST:", "if False:"),
        ('"utf-8-sig"', '"utf-8"'),
    ),
    *of("service/cli/private_file", ("    except DiscreetError:\n        raise\n", ""), tests=SYNTHESIZE),
    *of(
        "service/cli/account",
        ('    "waiver": "a waiver goes on record, and only a ledger keeps one",\n', ""),
        tests=SYNTHESIZE,
    ),
]
