"""Mistakes of a site: whose things are whose, what is charged, what leaves when, what a worker or a site may claim."""

from __future__ import annotations

from tests.mutants.mutant import of

SITE = "service/server/test_site.py"
API = "service/server/test_api.py"
ATTACKS = "service/server/test_site_attacks.py"
CLIENT = "service/client/test_connect.py"
WORKER = "trust/worker/test_worker_trust.py"
COMMANDS = "service/cli/sites/test_site_commands.py"

MUTANTS = [
    *of(
        "service/server/site",
        ("if name not in self._data or not caller.sees(name):", "if name not in self._data:"),
        (
            'own = entry is not None and (caller.role != "analyst" or entry.user == caller.name)',
            "own = entry is not None",
        ),
        ("        if entry.user != caller.name:\n", "        if False:\n"),
        ('        if caller.role != "curator":\n', "        if False:\n"),
        ('        if caller.role == "analyst":\n            raise no_such("ledger", name)\n', ""),
        ("        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)\n", "        pass\n"),
        tests=SITE,
    ),
    *of("service/server/site", ('        if caller.role == "auditor":\n', "        if False:\n"), tests=COMMANDS),
    *of(
        "service/server/site_file",
        ('return self.role != "analyst" or data_set in self.data', "return True"),
        tests=SITE,
    ),
    *of(
        "service/server/site_file",
        ("        if word not in words:\n", "        if False:\n"),
        ("    found.check_covered()\n", ""),
        ("        if one not in data:\n", "        if False:\n"),
        ("or not set(name) <= NAME or", "or"),
        tests=COMMANDS,
    ),
    *of(
        "service/server/question_desk",
        ('return f"{user}/{key}"', "return key"),
        ("if (known.question, known.epsilon, known.delta) != (asked.text, budget.epsilon, budget.delta):", "if False:"),
        ("budget.epsilon > above and", "budget.epsilon > 10 * above and"),
        ("        if not data.affords(price.event, user.name):\n", "        if False:\n"),
        ("            self._store.forget(entry.id)\n", "            pass\n"),
        ("        if frozen is not None:\n", "        if False:\n"),
        ('        if known.state != "done":\n            self._check_open(data)\n', "        self._check_open(data)\n"),
        (
            '        if entry.state == "denied":\n            raise _denied(entry)\n        if asked.long',
            "        if asked.long",
        ),
        tests=SITE,
    ),
    *of(
        "service/server/question_desk",
        ("return _due(found, next_moment(begun, time.monotonic(), period))", "return _due(found, time.monotonic())"),
        tests=ATTACKS,
    ),
    *of(
        "service/server/site_answer",
        ("(math.floor((now - begun) / period) + 1)", "math.floor((now - begun) / period)"),
        tests=ATTACKS,
    ),
    *of(
        "service/server/api_keys",
        ("if found is None or not right or not _lasts(until):", "if found is None or not _lasts(until):"),
        ("if found is None or not right or not _lasts(until):", "if found is None or not right:"),
        (
            "self._store.add_key(id, user, salt, _hashed(secret, salt), until)",
            "self._store.add_key(id, user, salt, secret.encode(), until)",
        ),
        tests=SITE,
    ),
    *of(
        "service/server/caller_limits",
        ("            if left < 1:\n", "            if False:\n"),
        ("self._tokens[caller] = (left - 1, now)", "self._tokens['all'] = (left - 1, now)"),
        tests=ATTACKS,
    ),
    *of(
        "service/server/api_fields",
        ("        if name not in fields:\n", "        if False:\n"),
        (
            "and not isinstance(value, bool) and abs(value) <= LARGEST\n\n\ndef _is_question",
            "and abs(value) <= LARGEST\n\n\ndef _is_question",
        ),
        tests=API,
    ),
    *of("service/server/site_application", ("        if size > most:\n", "        if False:\n"), tests=API),
    *of(
        "service/server/bounded_protocol",
        (
            "        if len(self.connections) >= self.most_lines:\n",
            "        if False:\n",
            "an idle line costs a file alone: the bound is on how many files a site has open",
        ),
        ("        if self.is_silent or not self._complete:\n", "        if False:\n"),
        ("        if self._head > MOST_HEAD and self.is_silent:\n", "        if False:\n"),
        tests=ATTACKS,
    ),
    *of(
        "service/client/site_ledger",
        ("        if written(theirs) != written(event):\n", "        if False:\n"),
        ("        if not asked.paid:\n", "        if asked.paid is None:\n"),
        tests=CLIENT,
    ),
    *of(
        "service/client/site_line",
        ('        if parts.scheme == "http" and not is_this_machine(parts.hostname):\n', "        if False:\n"),
        ("or not key.isascii()", "or not key"),
        ("AGAIN = (429, 503)", "AGAIN = (429,)"),
        tests=CLIENT,
    ),
    *of(
        "trust/worker/worker_trust",
        ("and not _is_noisy_sum(release, question):", "and False:"),
        ('return self._line.facts.get("units") if public else None', 'return self._line.facts.get("units")'),
        ("    asks_again = True\n", "    asks_again = False\n"),
        tests=WORKER,
    ),
    *of(
        "trust/worker/worker_process",
        ('"secret": curator.secret', '"secret": True'),
        tests="conformance/test_trust_models.py",
    ),
    *of(
        "trust/worker/worker_line",
        (
            "            self._line, left, self._waiting = None, list(self._waiting.values()), {}\n",
            "            self._line, left, self._waiting = None, [], {}\n",
        ),
        tests=WORKER,
    ),
    *of(
        "trust/sources/at_hand",
        ("        self._units = source.units()\n", "        self._units = len(self._values) + 1\n"),
    ),
    *of(
        "service/cli/sites/site_command",
        ("            return [*heads, there.head]\n", "            return heads\n"),
        ("        if known is None:\n", "        if False:\n"),
        ("heads = [] if known is None else [known]", "heads: list[str] = []"),
        tests=COMMANDS,
    ),
    *of("trust/telling", ("    if _TOLD.get() is not None:\n        yield\n        return\n", ""), tests=CLIENT),
]
