"""Mistakes of a site: whose things are whose, what is charged, what leaves when, what a worker or a site may claim."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, of

SITE = "service/server/test_site.py::test_"
API = "service/server/test_api.py::test_"
ATTACKS = "service/server/test_site_attacks.py::test_"
CLIENT = "service/client/test_connect.py::test_"
WORKER = "trust/worker/test_worker_trust.py::test_"
COMMANDS = "service/cli/sites/test_site_commands.py::test_"
OTHERS = f"{SITE}what_belongs_to_somebody_else_does_not_exist"
DEAR = f"{SITE}a_dear_question_waits_for_a_curator_and_is_charged_when_one_agrees"
UNPAID = f"{SITE}a_dear_question_that_cannot_be_asked_or_paid_is_refused_at_once"
UNASKED = f"{SITE}what_cannot_be_asked_is_refused_uncharged_and_leaves_its_key_free"
FROZEN = f"{SITE}a_frozen_data_set_is_not_asked_and_paid_answers_stay"
KEYS = f"{SITE}keys_are_recognised_and_everything_else_is_refused_alike"
ENDED = f"{SITE}what_was_answered_just_before_the_end_is_done_after_the_next_start"
FILES = f"{COMMANDS}files_that_would_be_read_otherwise_than_they_were_meant_are_refused"
SHARED = f"{COMMANDS}data_sets_about_the_same_people_share_an_account"
SIGNED = f"{COMMANDS}ask_and_fit_of_a_site_that_was_made_by_commands"
UNDONE = f"{COMMANDS}a_backup_that_would_undo_a_charge_is_not_put_back"
MOMENT = f"{ATTACKS}an_answer_leaves_at_a_moment_that_does_not_depend_on_its_records"
EARLY = f"{ATTACKS}before_an_answer_is_due_nothing_tells_that_it_is_there"
LIES = f"{CLIENT}a_site_that_lies_is_refused"
SIGNS = f"{CLIENT}a_checkpoint_of_another_charge_is_refused"
CLEAR = f"{CLIENT}a_key_never_leaves_in_the_clear"
PLACES = f"{SITE}analysts_are_not_told_where_things_are"
LARGE = f"{SITE}what_would_fill_the_server_is_refused_before_anything_is_charged_or_noted"
BYTES = f"{API}the_same_bytes_are_answered_with_the_same_bytes_to_the_same_caller_alone"
HANGS = f"{ATTACKS}whoever_hangs_up_in_the_middle_of_a_request_is_no_mistake_and_charged_nothing"
HANDED = "service/server/test_handing_over.py"
WRITTEN = f"{SITE}a_state_is_on_disk_from_its_moment_on_and_not_before_it"
LATER = f"{SITE}a_state_that_could_not_be_written_down_is_written_down_later"
GOES_ON = f"{SITE}who_writes_states_down_goes_on_after_a_failure_and_ends_with_the_site"
STAYS = f"{SITE}what_somebody_else_just_looked_up_is_no_freeze"
STATUS = f"{API}every_refusal_has_its_status"


def one(file: str, old: str, new: str, tests: str) -> list[Mutant]:
    """A single mistake of a file."""
    return of(file, (old, new), tests=tests)


DESK, FILE, LEDGER = "service/server/question_desk", "service/server/site_file", "service/client/site_ledger"
ANYBODY = "entry is not None"

MUTANTS = [
    *of(
        "service/server/site",
        ("if name not in self._data or not caller.sees(name):", "if name not in self._data:"),
        (f'own = {ANYBODY} and (caller.role != "analyst" or entry.user == caller.name)', f"own = {ANYBODY}"),
        ("        if entry.user != caller.name:\n", "        if False:\n"),
        ('        if caller.role != "curator":\n', "        if False:\n"),
        ('        if caller.role == "analyst":\n            raise no_such("ledger", name)\n', ""),
        tests=OTHERS,
    ),
    *one("service/server/site", '(plainly if caller.role == "analyst" else trouble)', "trouble", PLACES),
    *one(
        "service/server/site", "            check_size(one, len(found.schema.columns))\n", "            pass\n", LARGE
    ),
    *one(DESK, "        check_size(asked, len(data.schema.columns))\n", "        pass\n", LARGE),
    *one("service/server/question_size", "        if value > most:", "        if value < 0:", LARGE),
    *one("service/server/question_size", "if isinstance(one, PrivateEstimator):", "if False:", LARGE),
    *one("service/server/site_application", "return caller.name, name, hash", 'return "", name, hash', BYTES),
    *one("service/server/site", "if name in self._data and caller.sees(name) else None", "if True else None", BYTES),
    *one(FILE, 'return self.role != "analyst" or data_set in self.data', "return True", OTHERS),
    *one(
        "service/server/site",
        "        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
        "        pass\n",
        f"{SITE}a_site_is_served_by_one_process_at_a_time",
    ),
    *of(
        FILE,
        ("        if word not in words:\n", "        if False:\n"),
        ("    found.check_covered()\n", ""),
        ("        if one not in data:\n", "        if False:\n"),
        ("or not set(name) <= NAME or", "or"),
        tests=FILES,
    ),
    *one(DESK, 'return f"{user}/{key}"', "return key", f"{SITE}the_key_of_one_user_is_free_for_another"),
    *one(
        DESK,
        "if (known.question, known.epsilon, known.delta) != (asked.text, budget.epsilon, budget.delta):",
        "if False:",
        f"{SITE}a_key_for_another_question_is_refused",
    ),
    *one(DESK, "budget.epsilon > above and", "budget.epsilon > 10 * above and", DEAR),
    *one(DESK, "        if not data.affords(price.event, user.name):\n", "        if False:\n", UNPAID),
    *one(DESK, "            self._store.forget(entry.id)\n", "            pass\n", UNASKED),
    *one(DESK, "        if frozen is not None:\n", "        if False:\n", FROZEN),
    *one(DESK, '        if known.state != "done":\n            self._check_open', "        self._check_open", FROZEN),
    *one(DESK, "0.0 if found.replayed else next_moment(begun, time.monotonic(), period)", "time.monotonic()", MOMENT),
    *one(DESK, "self._remember(found, entry, due)", "self._remember(found, entry, 0.0)", EARLY),
    *one(DESK, "            place.until(due)\n", "            pass\n", EARLY),
    *one(DESK, "kept is not None and kept.due == 0.0 else None", "kept is not None else None", EARLY),
    *one(
        DESK,
        "    wait_until(next_moment(begun, time.monotonic(), period))\n\n\ndef today",
        "    pass\n\n\ndef today",
        EARLY,
    ),
    *one("service/server/analyst_ledger", "        self._rest()\n        done =", "        done =", EARLY),
    *one(
        DESK,
        "            self._check_open(data)\n            found = self._released",
        "            found = self._released",
        FROZEN,
    ),
    *one(
        DESK,
        '        self._check_open(data)\n        if not self._store.moved(entry.id, ("dangling",)',
        '        if not self._store.moved(entry.id, ("dangling",)',
        FROZEN,
    ),
    *of(
        "service/server/api_keys",
        ("                self._store.end_key(id)", "                pass"),
        ("            self.end_session(token)\n            raise", "            raise"),
        tests=f"{SITE}what_has_expired_stays_so_where_the_clock_is_moved_back",
    ),
    *one(FILE, "within(table=self.table, project=self.project)", "within(table=self.table)", SHARED),
    *one("service/server/site_data_set", "ledger.signed_by(self._identity)", "ledger", SIGNED),
    *one(LEDGER, "if signed != (said[", "if False and signed != (said[", SIGNS),
    *one(DESK, "self._store.done_at(entry.id, due)", "self._store.done_at(entry.id, time.monotonic())", EARLY),
    *one(
        DESK,
        "                if ledger.answered(charge_key(entry.user, entry.key)):",
        "                if True:",
        ENDED,
    ),
    *one(DESK, "                    self._store.done_at(entry.id, 0.0)\n", "                    pass\n", ENDED),
    *of(
        "service/server/site_store",
        ("        if known is not None and time.monotonic() < self._looked + UNSEEN:", "        if known is not None:"),
        ("        if version != self._version:", "        if False:"),
        tests=KEYS,
    ),
    *one(
        "service/server/site_answer",
        "(math.floor((now - begun) / period) + 1)",
        "math.floor((now - begun) / period)",
        MOMENT,
    ),
    *of(
        "service/server/api_keys",
        ("if found is None or not right or not _lasts(until):", "if found is None or not _lasts(until):"),
        ("if found is None or not right or not _lasts(until):", "if found is None or not right:"),
        ("_hashed(secret, salt), until)", "secret.encode(), until)"),
        tests=KEYS,
    ),
    *of(
        "service/server/caller_limits",
        ("            if left < 1:\n", "            if False:\n"),
        ("self._tokens[caller] = (left - 1, now)", "self._tokens['ann'] = self._tokens['bob'] = (left - 1, now)"),
        tests=f"{ATTACKS}a_caller_who_asks_too_often_is_told_to_wait_and_others_are_not",
    ),
    *one("service/server/site_application", "    except ClientDisconnect:", "    except RecursionError:", HANGS),
    *one("service/server/site_store", "self._due[0][0] <= now:", "self._due[0][0] <= now + 60:", WRITTEN),
    *one("service/server/site_store", "                self._lock.wait(LATE)\n", "                return\n", WRITTEN),
    *one("service/server/site_store", "self._told.extend((now, id) for id in done)", "pass", LATER),
    *one(
        "service/server/site_store",
        "                    if self._closed:\n                        return  #",
        "                    if True:\n                        return  #",
        GOES_ON,
    ),
    *of(
        "service/server/site_store",
        (".rowcount == len(new):", ".rowcount >= 0:"),
        ("if one is not own]", "if False]"),
        ("if one is not own]", "if True]"),
        (
            "            except BaseException:\n                self._new",
            "            except sqlite3.Error:\n                self._new",
        ),
        ("            if new.found is None:\n", "            if True:\n"),
        tests="service/server/test_site_store.py",
    ),
    *one("service/server/site_store", "if known != UNREAD and", "if data in self._frozen and", STAYS),
    *one(
        "service/server/site_store",
        '            self._frozen.clear()\n            db.execute("insert',
        '            db.execute("insert',
        FROZEN,
    ),
    *one(
        "service/server/site_store",
        '            self._keys.clear()\n            db.execute("delete',
        '            db.execute("delete',
        KEYS,
    ),
    *of(
        "service/server/caller_limits",
        ("        while staying and staying[0] <= self._clock():", "        while staying:"),
        ("        while staying and staying[0] <= self._clock():", "        while False:"),
        ("staying[0] <= self._clock()", "staying[0] < self._clock()"),
        ("heapq.heappush(self._until.setdefault(caller, []), place.moment)", "self._until[caller] = [place.moment]"),
        (
            "heapq.heappush(self._until.setdefault(caller, []), place.moment)",
            "self._until.setdefault(caller, []).append(place.moment)",
        ),
        ("                if place.moment > self._clock():", "                if False:"),
        ("return self._running.get(caller, 0) + len(staying)", "return self._running.get(caller, 0)"),
        ("return self._running.get(caller, 0) + len(staying)", "return len(staying)"),
        ("left = min(float(self._requests), left", "left = max(float(self._requests), left"),
        ("left = min(float(self._requests), left", "left = (left"),
        tests="service/server/test_caller_limits.py",
    ),
    *one("service/server/handing_over", "        self._woken = False\n        while", "        while", HANDED),
    *one(
        "service/server/handing_over",
        "            if future.done():\n                continue",
        "            if False:\n                continue",
        HANDED,
    ),
    *one(
        "service/server/handing_over",
        "            made = future, None, why",
        "            made = future, None, None",
        HANDED,
    ),
    *one("service/server/api_fields", "        if name not in fields:\n", "        if False:\n", STATUS),
    *one("service/server/api_fields", "int | float) and not isinstance(value, bool)", "int | float)", STATUS),
    *one("service/server/site_application", "        if size > most:\n", "        if False:\n", STATUS),
    *one(
        "service/server/bounded_protocol",
        "        if self.is_silent or not self._complete:\n",
        "        if False:\n",
        f"{ATTACKS}requests_that_arrive_slowly_or_never_are_given_up",
    ),
    *one(LEDGER, "        if written(theirs) != written(event):\n", "        if False:\n", LIES),
    *one(LEDGER, "        if not asked.paid:\n", "        if asked.paid is None:\n", LIES),
    *of(
        "service/client/site_line",
        ('        if parts.scheme == "http" and not is_this_machine(parts.hostname):\n', "        if False:\n"),
        ("or not key.isascii()", "or not key"),
        tests=CLEAR,
    ),
    *one(
        "service/client/site_line",
        "AGAIN = (429, 503)",
        "AGAIN = (429,)",
        f"{CLIENT}a_site_that_is_busy_is_asked_again_under_the_same_key",
    ),
    *of(
        "trust/worker/worker_trust",
        ("and not _is_noisy_sum(release, question):", "and False:"),
        ('return self._line.facts.get("units") if public else None', 'return self._line.facts.get("units")'),
        tests=f"{WORKER}a_worker_that_lies_changes_no_charge",
    ),
    *one(
        "trust/worker/worker_trust",
        "    asks_again = True\n",
        "    asks_again = False\n",
        f"{WORKER}a_worker_that_is_killed_charges_once_and_is_started_again",
    ),
    *of("trust/sources/rows_in_memory", ("self._units = source.units()", "self._units = len(self._values) + 1")),
    *of(
        "service/cli/sites/site_command",
        ("            return [*heads, there.head]\n", "            return heads\n"),
        ("        if known is None:\n", "        if False:\n"),
        ("heads = [] if known is None else [known]", "heads: list[str] = []"),
        tests=UNDONE,
    ),
    *of(
        "service/client/connect",
        ("{name: plain(text) for name, text in said.items()}", "said"),
        ('[plain(fields_of(one, asked, name=str)["name"]) for one in found]', '[one["name"] for one in found]'),
        tests="service/client/test_connect.py::test_what_a_site_says_of_itself_rewrites_no_terminal_and_may_be_anything",
    ),
    *of(
        "service/client/site_ledger",
        ("for _ in range(MOST_LOOKS):", "for _ in range(9 * MOST_LOOKS):"),
        tests="service/client/test_connect.py::test_a_site_that_is_never_done_is_not_waited_for_for_ever",
    ),
]
