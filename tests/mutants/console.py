"""Mistakes in privacy cards and in the console."""

from __future__ import annotations

from tests.mutants.mutant import of

CARD = "releases/test_privacy_card.py"
PAGES = "service/console/test_console.py"
CHOICE = "service/console/test_question_choice.py"
FORM = "service/console/test_sent_form.py"
SCHEMA = "service/console/test_schema_pages.py"

MUTANTS = [
    *of(
        "display/document",
        ("style-src {source_of(STYLE)}", "style-src 'unsafe-inline'"),
        ("<title>{safe(title)}</title>", "<title>{title}</title>"),
        tests="query/test_page.py",
    ),
    *of(
        "query/line_chart",
        ("max(0.0, cap - one)", "cap - one"),
        ("return [*values[:-1:step], values[-1]] if step > 1 else values", "return values"),
        ("return (math.log10(error) - low) / (high - low)", "return error / 10**high"),
        tests="query/test_line_chart.py",
    ),
    *of(
        "query/rehearsed_attack",
        ("size = min(n, MOST)", "size = n"),
        ("neighbors=neighbors, unit=unit), budget)", "unit=unit), budget)"),
        ("warnings=(MADE_UP, *report.warnings)", "warnings=report.warnings"),
        ('if question.kind != "learner":', "if False:"),
        tests="query/test_rehearsed_attack.py",
    ),
    *of(
        "releases/privacy_card",
        ("        card.check_price()\n", ""),
        ("if self.together or math.isinf(self.epsilon):", "if True:"),
        ('if list(card.limits) != plain["not_protected"]:', "if False:"),
        ('if self.neighbors is Neighbors.ADD_REMOVE else ("The number', 'if True else ("The number'),
        ('if self.unit.kind == "record" else ()', "if True else ()"),
        ("not 0 <= value < below", "False"),
        ("if self.kind not in KINDS:", "if False:"),
        tests=CARD,
    ),
    *of(
        "releases/card_page",
        ('"" if card.secret else NOT_PRIVATE', '""'),
        ("<th scope='row'>{safe(name)}</th>", "<th scope='row'>{name}</th>"),
        ("<td>{unbroken(text)}</td>", "<td>{text}</td>"),
        tests=CARD,
    ),
    *of(
        "releases/card_of",
        ("secret=all(entry.secret for entry in entries)", "secret=True", "no account of tests has known bits"),
        ('    return "table" if hasattr(made, "records") else "release"', '    return "release"'),
        tests=CARD,
    ),
    *of(
        "releases/signed_card",
        ("        found.verify(roster)\n", ""),
        ("name.encode(), stated.encode())", "stated.encode())"),
        ("name.encode(), stated.encode())", "name.encode())"),
        tests=CARD,
    ),
    *of(
        "service/console/console",
        ("                _check_own(visit, request)\n", ""),
        ("        check_csrf(visit.session, sent)\n", "        pass\n"),
        ("elif not is_form_of(visit.visitor, sent):", "elif False:"),
        ('not in ("same-origin", "none"):', "in ():"),
        ("            if path.anybody:\n", "            if True:\n"),
        ('if kind != "application/x-www-form-urlencoded":', "if False:"),
        ("                if len(found) > LONGEST:\n", "                if False:\n"),
        ('value, path="/", secure=self._secure, httponly=True', 'value, path="/", secure=self._secure, httponly=False'),
        ('value, path="/", secure=self._secure', 'value, path="/", secure=False'),
        ('if visit.path.startswith("/api/"):', "if False:"),
        tests=PAGES,
    ),
    *of(
        "service/console/visit",
        ("        if self.user.role not in roles:\n", "        if False:\n"),
        ("return bool(visitor) and hmac", "return True or hmac"),
        (
            '**UNKEPT, "content-disposition"',
            '**HEADERS, "content-disposition"',
            "files are kept by whoever asks for them",
        ),
        tests=PAGES,
    ),
    *of(
        "service/console/templates",
        ("        autoescape=True,\n", "        autoescape=False,\n"),
        ("return escape(plain_lines(text))", "return markup(plain_lines(text))"),
        ("markup(unbroken(str(text)))", "markup(str(text))"),
        tests=PAGES,
    ),
    *of(
        "service/console/policy",
        (
            "default-src 'self'; base-uri",
            "default-src 'self' 'unsafe-inline'; base-uri",
            "the pages say what they are held against",
        ),
        ('"cache-control": "no-store"', '"cache-control": "private"'),
        tests=PAGES,
    ),
    *of(
        "service/console/curator_pages",
        ("            if not reason:\n", "            if False:\n"),
        ('    visit.check_role("curator", "auditor")\n    view = ', "    view = "),
        tests=PAGES,
    ),
    *of(
        "service/console/answer_pages",
        ('    visit.check_role("curator", "auditor")\n', ""),
        ("SignedCard.of(made, signer)", "made"),
        ("status = HTTPStatus.ACCEPTED if waits else HTTPStatus.OK", "status = HTTPStatus.OK"),
        tests=PAGES,
    ),
    *of(
        "service/console/data_pages",
        ("choice.python(view.name, visit.address)", "None"),
        ("epsilon > view.above and", "epsilon < view.above and"),
        ("not view.frozen and", "", "the site refuses, too"),
        tests=PAGES,
    ),
    *of(
        "service/console/question_choice",
        ("if statistic not in OFFERED:", "if False:"),
        ("    if name not in schema.columns:\n", "    if False:\n"),
        ("        if sign not in SIGNS:\n", "        if False:\n"),
        ('text.replace("\'", "\'\'")', "text"),
        ("name.replace('\"', '\"\"')", "name"),
        ("if isinstance(kind, Number) and NUMBER.fullmatch(value):", "if isinstance(kind, Number):"),
        ("is None else min(max(step, 0), STEPS)", "is None else step"),
        tests=CHOICE,
    ),
    *of(
        "service/console/sent_form",
        ("if len(query) > LONGEST:", "if False:"),
        ("max_num_fields=MOST_FIELDS, ", ""),
        ("        if not math.isfinite(value):\n", "        if value != value and False:\n"),
        ("if value is not None and value != int(value):", "if False:"),
        tests=FORM,
    ),
    *of(
        "service/console/schema_draft",
        ("            if not self.listed:\n", "            if False:\n"),
        ("        if not text:\n", "        if False:\n"),
        ("if NUMBER.fullmatch(text) is None:", "if False:"),
        ("[columns.{quoted(self.name)}]", "[columns.{self.name}]"),
        ('min(max(sent.whole("count") or 0, 1), MOST_COLUMNS)', 'sent.whole("count") or 1'),
        tests=SCHEMA,
    ),
    *of(
        "service/console/tour",
        ('key=f"tour {epsilon:g}"', "key=None"),
        ("min(PAID, key=lambda", "max(PAID, key=lambda"),
        tests="service/console/test_tour.py",
    ),
]
