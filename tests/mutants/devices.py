"""Mistakes in what devices believe, keep and send, and in what collectors count."""

from __future__ import annotations

from tests.mutants.mutant import of

CLIENTS = "conformance/test_clients.py"

MUTANTS = [
    *of(
        "local/wire_client",
        ("if said != (VERSION, found.derived, fingerprint(found.parameters).hex()):", "if False:"),
        ("return place if 0 <= place < self.size else stand_in(self.size)", "return place % self.size"),
        ("1 + secrets.randbelow(q ** (t - 1) - 1)", "secrets.randbelow(q ** (t - 1))"),
        ("return other if miss and far < away else", "return other if miss else"),
        ("1 << (-(-size // blocks)).bit_length()", "1 << (size // blocks).bit_length()"),
    ),
    *of(
        "local/protocol",
        (
            '    if wrong:\n        raise ParameterError("protocol", f"its',
            '    if False:\n        raise ParameterError("protocol", f"its',
        ),
        ("_ = made.fingerprint, made.derived, made.form", "_ = made.form"),
        tests=f"local/test_protocol.py {CLIENTS}",
    ),
    *of(
        "local/randomizer",
        ("self.stand_in(bits) if self.read(value) is None else value", "value"),
        tests=f"local/test_reporter.py {CLIENTS}",
    ),
    *of(
        "local/reporter",
        ("if budget is None and self._each > DEVICE_EPSILON:", "if False:"),
        ("    @exclusive\n    def message", "    def message"),
        ("hashlib.sha256(content).hexdigest()", "hashlib.sha256(content[:64]).hexdigest()"),
    ),
    *of(
        "ledger/own_account",
        ("self._load(self._path)", "self._begun or self._load(self._path)"),
        ('with locked(self._path.with_name(f"{self._path.name}.lock")):', "with contextlib.nullcontext():"),
        ("elif self._begun:", "elif False:"),
        ("replace_own(self._path, data)", "pass"),
        tests="local/test_reporter.py trust/aggregation/test_device_account.py",
    ),
    *of(
        "local/rappor/rappor_client",
        ("if rappor.epsilon_infinity > budget:", "if False:"),
        ("self.rappor.stand_in(bits) if self.rappor.read(value) is None else value", "value"),
        ("    check_secret(master)\n", ""),
    ),
    *of(
        "local/rappor/rappor",
        ("if self.epsilon > MOST_EPSILON:", "if False:"),
        tests="local/rappor/test_rappor_client.py",
    ),
    *of(
        "local/rappor/permanent_memo",
        ('struct.pack(">d", setup.f)', "bytes(8)"),
        ("if setup.f != self.f or setup.bits > WORD:", "if setup.bits > WORD:"),
    ),
    *of(
        "local/rappor/permanent_memo",
        ('data = read_own(path, f"RAPPOR memo {path}", 1, LONGEST, UNREPORTED)', "data = path.read_bytes()"),
        tests="local/rappor/test_permanent_memo.py",
    ),
    *of(
        "local/rappor/unknown_strings",
        ("(places[:, 0] < places[:, 1])", "(places[:, 0] <= places[:, 1])"),
    ),
    *of(
        "local/means/vector_report",
        ("if (np.abs(rows) > self.number).any():", "if False:"),
        ("self.length * (1 + ROUNDING)", "self.length * 100"),
        ("np.trunc(inside * shrink)", "np.ceil(inside * shrink)"),
    ),
    *of(
        "local/means/privunit_vector",
        ("math.sqrt(self.size) / 2 + 1", "math.inf"),
        tests="local/means/test_vector_report.py",
    ),
    *of(
        "local/means/hybrid_report",
        ("least = 0 if self.cells else CELLS", "least = 0"),
        tests="local/means/test_vector_report.py",
    ),
    *of(
        "local/oracles/projective_geometry",
        ("for less in (0, 1))", "for less in (0, 0))"),
        tests="local/test_oracle.py conformance/test_randomizers.py",
    ),
    *of(
        "local/aggregator",
        ("if given.ndim != 1 + len(form.shape) or given.shape[1:] != form.shape:", "if False:"),
        tests="conformance/test_supports.py",
    ),
    *of(
        "ledger/own_database",
        ("check_own(self.path, asked, self.path, consequence)", "pass"),
        ('create_own(self.path, b"")', "self.path.touch(0o644)"),
        tests="service/collector/test_collector.py",
    ),
    *of(
        "ledger/own_file",
        ("if mode & 0o077:", "if mode & 0o007:"),
        ("if found.st_uid not in (0, os.geteuid()):", "if False:"),
        ("if not least <= len(data) <= most:", "if len(data) > most:"),
        ("_written_aside(Path(path), data, os.link)", "_written_aside(Path(path), data, os.replace)"),
        ("            os.fsync(file.fileno())\n        named", "        named"),
    ),
    *of(
        "service/bounded_http",
        ("request_queue_size = BACKLOG", "request_queue_size = 5"),
        ("disable_nagle_algorithm = True", "disable_nagle_algorithm = False"),
        ("self.wfile = together = io.BytesIO()", "together = io.BytesIO()"),
        ("left = self.until - time.monotonic()", "left = PATIENCE"),
        ("said[0].isascii() and said[0].isdecimal()", 'said[0].strip("+-_").isdecimal()'),
        ("plain = len(said) == 1 and", "plain = len(said) > 0 and"),
        ("self.close_connection or not alone", "self.close_connection"),
        tests="service/collector/test_collector.py",
    ),
    *of(
        "service/cli/parties/rappor_command",
        ('return read_own(path, f"secret {path}", MASTER, LONGEST)', "return path.read_bytes()"),
        ("secrets, budget=arguments.budget)", "secrets, budget=1e9)"),
    ),
]
