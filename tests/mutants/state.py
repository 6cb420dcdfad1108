"""One-line mistakes in what is held, saved and resumed."""

from __future__ import annotations

from tests.mutants.mutant import of

WALK = "conformance/test_changing_classes.py"
SAVED = "sequential/test_saved_stream.py conformance/test_streams.py"
FORKS = "trust/test_forks.py"

MUTANTS = [
    *of(
        "core/held",
        ("if self._process != this_process():", "if False:"),
        ("setattr(cls, name, own if is_exclusive(own) else exclusive(own))", "pass"),
        ("        with self._lock:\n            return method", "        if True:\n            return method"),
        ("    os.register_at_fork(after_in_child=Forks.counted)", "    pass"),
        ("if inspect.isgeneratorfunction(method) or inspect.iscoroutinefunction(method):", "if False:"),
    ),
    *of(
        "sequential/continual_release",
        ("int(value))\n        self.check()", "int(value))"),
        ("(found.shape, found.dtype) != (wanted, like.dtype)", "found.dtype != like.dtype"),
        ("(found.shape, found.dtype) != (wanted, like.dtype)", "found.shape != wanted"),
        ("(found >= 0) & (found <= most)", "found <= most"),
        ("        if self._closed:\n", "        if False:\n"),
        ("return identity((type(self).__qualname__, self.parameters))", "return identity(type(self).__qualname__)"),
        tests=SAVED,
    ),
    *of(
        "sequential/saved_stream",
        ("or about.st_nlink != 1:", "or False:"),
        ("Path(os.path.realpath(path))", "Path(path)"),
        ("    if form != FORM:\n", "    if False:\n"),
        ("            stream._closed = False\n            raise", "            raise"),
        ("            os.unlink(path)\n", ""),
        ("            claimed.rename(path)\n", "            claimed.unlink()\n"),
        ("if not bits.secret and (receipt is None or receipt.secret):", "if False:"),
        tests=SAVED,
    ),
    *of(
        "sequential/counters/tree_counter",
        ('fitting(state, "sums", self._sums.saved())', 'state["sums"]'),
        ("    @exclusive\n    def add", "    def add"),
        tests=f"{SAVED} {WALK}",
    ),
    *of(
        "sequential/filters/kalman_filter",
        ('{"model": self.model, "extra": self.extra}', '{"A": self.A, "extra": self.extra}'),
        tests="sequential/filters/test_kalman_stream.py",
    ),
    *of(
        "trust/permit",
        ("    @exclusive\n    def ask(", "    def ask("),
        ("    @exclusive\n    def artefact", "    def artefact"),
        tests=FORKS,
    ),
    *of("trust/permit", ("    @exclusive\n    def __exit__", "    def __exit__"), tests=WALK),
    *of(
        "trust/curator",
        ("        return found\n\n    @property", "        return self._listing\n\n    @property"),
        tests="conformance/test_caches.py::test_no_thread_is_given_what_another_has_put_into_a_cache",
    ),
    *of("trust/party", ("    @exclusive\n    def charged", "    def charged"), tests=FORKS),
    *of("trust/secure_sum", ("    @exclusive\n    def ask", "    def ask"), tests=WALK),
    *of("crypto/rounds/terms", ("    @exclusive\n    def claim", "    def claim"), tests=FORKS),
    *of("crypto/messages", ("        self.check_process()\n", ""), tests=WALK),
    *of("mechanisms/online/online_queries", ("    @exclusive\n    def ask", "    def ask"), tests=WALK),
    *of("statistics/tables/conversation", ("    @exclusive\n    def __enter__", "    def __enter__"), tests=WALK),
    *of("deep/training/trainer", ("    @exclusive\n    def _stepped", "    def _stepped"), tests=WALK),
]
