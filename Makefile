# Everything works on a fresh machine with nothing but Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Byte code is made of what is imported, when it is imported: that is a quarter of what is installed.
PIP_FLAGS := --quiet --no-compile --disable-pip-version-check -c constraints.txt

# Byte code is kept, whatever the environment says: tests and examples start many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: start test checked tested rooms soak mutants power walk look docs load fuzz bench bench-foundation bench-sums bench-statistics bench-learners bench-deep bench-local bench-sequential bench-release bench-attacks bench-parties bench-encrypted bench-query bench-platform attack-table clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.start: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[duckdb]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[dev,docs]'
	@touch $@ $(VENV)/.start

start: $(VENV)/.start
	$(BIN)/discreet report --sample --out build/report.html

# One thread each: two workers, and the programs that tests start, share the processors already. Threads of what the manual
# draws would wait for one another, and waiting is work.
test tested soak mutants power docs: export OMP_NUM_THREADS = 1

# The checkers of types and imports have one process each: beside the tests, no processor waits for them.
# ROOM=sequential, or a room inside it (ROOM=learners/linear), runs the tests of that room alone, its examples, and what
# `tests/conformance` says about what lives there. WORDS= selects claims, as pytest's -k does.
ifdef ROOM
test: $(VENV)/.dev
	$(BIN)/ruff check src/discreet/$(ROOM) tests/$(ROOM)
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'not slow' --room $(ROOM) $(if $(WORDS),-k '$(WORDS)') \
		tests/$(ROOM) src/discreet/$(ROOM) tests/conformance
else
test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory -j 2 checked tested
endif

checked: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/lint-imports

# Plain assertions: rewriting those of all files takes each worker 9 seconds. What fails is run again, to say why.
tested: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m 'not slow' --assert=plain || \
		{ $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -m 'not slow'; exit 1; }

soak: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup --fresh

# One-line mistakes that tests have to notice; a word or two after WORDS= tries only some of them.
mutants: $(VENV)/.dev
	$(BIN)/python -m tests.mutants $(WORDS)

# The table of rooms, in every page that shows it, from their docstrings and the import contracts.
rooms: $(BIN)/python
	$(BIN)/python docs/room_table.py

# Whether the audits could see a mistake: each is held against two thirds of the noise, and all are listed.
power: $(VENV)/.dev
	$(BIN)/python -m tests.power

# Four kinds of user, from the built wheel in an empty environment to their result; FRESH=--fresh installs all anew.
walk: $(VENV)/.dev
	$(BIN)/python -m tests.walk $(FRESH)

# What notebooks show, in a browser that is unpacked here the first time, from CHROMIUM= the archive that
# `npm pack @sparticuz/chromium@153.0.0` writes (60 MB). KEEP=--keep keeps the pictures as they look now.
$(VENV)/.look: pyproject.toml constraints.txt tests/look/browser.py | $(BIN)/python
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[look,docs]'
	$(BIN)/python -m tests.look.browser $(CHROMIUM)
	@touch $@ $(VENV)/.dev $(VENV)/.start

look: $(VENV)/.look
	$(BIN)/python -m pytest tests/look $(KEEP)

clean:
	rm -rf $(VENV) build site .mypy_cache .ruff_cache .pytest_cache

$(VENV)/bench/.ready: pyproject.toml constraints.txt benchmarks/foundation_peers.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench
	$(VENV)/bench/bin/python -m pip install --quiet --disable-pip-version-check -e '.[duckdb]' -r benchmarks/foundation_peers.txt
	@touch $@

bench-foundation: $(VENV)/bench/.ready
	$(VENV)/bench/bin/python -m benchmarks.foundation

# Private query engines do not install beside one another: each has an environment of its own.
$(VENV)/bench-%/.ready: benchmarks/peers/%_grouped.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-$*
	$(VENV)/bench-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)/bench-%/.ready: benchmarks/peers/%_anonymity.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-$*
	$(VENV)/bench-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(VENV)/bench-%/.ready: benchmarks/peers/%_synthesis.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-$*
	$(VENV)/bench-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# DISCREET_DATA= names the folder with adult.csv.gz. SECTIONS= names some of the sections of benchmarks/release.py.
bench-release: $(VENV)/.start $(foreach peer,anonypy pycanon mbi snsynth,$(VENV)/bench-$(peer)/.ready)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.release $(SECTIONS)

$(VENV)/bench-sums/.ready: pyproject.toml constraints.txt benchmarks/sums_peers.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-sums
	$(VENV)/bench-sums/bin/python -m pip install $(PIP_FLAGS) -e '.[duckdb,spark]' -r benchmarks/sums_peers.txt
	@touch $@

bench-sums: $(VENV)/bench-sums/.ready $(VENV)/bench-opendp/.ready $(VENV)/bench-smartnoise/.ready $(VENV)/bench-pipelinedp/.ready
	$(VENV)/bench-sums/bin/python -m benchmarks.sums

bench-statistics: $(VENV)/bench/.ready $(VENV)/bench-opendp/.ready
	$(VENV)/bench/bin/python -m benchmarks.statistics

bench-learners: JOBS ?= 1
bench-learners: $(VENV)/bench/.ready
	OMP_NUM_THREADS=1 $(VENV)/bench/bin/python -m benchmarks.learners --jobs $(JOBS)

# MNIST= gives the path of its archive (x_train, y_train, x_test, y_test): its models are trained too.
$(VENV)/bench-deep/.ready: pyproject.toml constraints.txt benchmarks/deep_peers.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-deep
	$(VENV)/bench-deep/bin/python -m pip install $(PIP_FLAGS) -e '.[torch]'
	$(VENV)/bench-deep/bin/python -m pip install $(PIP_FLAGS) -r benchmarks/deep_peers.txt
	@touch $@

bench-deep: $(VENV)/bench-deep/.ready
	OMP_NUM_THREADS=1 $(VENV)/bench-deep/bin/python -m benchmarks.deep $(if $(MNIST),--mnist $(MNIST))

$(VENV)/bench-local/.ready: pyproject.toml constraints.txt benchmarks/local_peers.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-local
	$(VENV)/bench-local/bin/python -m pip install --quiet --disable-pip-version-check -e . -r benchmarks/local_peers.txt
	@touch $@

# SECTIONS= names some of the sections of benchmarks/local.py; without it all are run.
bench-local: $(VENV)/bench-local/.ready
	OMP_NUM_THREADS=1 $(VENV)/bench-local/bin/python -m benchmarks.local $(SECTIONS)

# There is no peer to install. SECTIONS= names some of the sections of benchmarks/sequential.py.
bench-sequential: $(VENV)/.start
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.sequential $(SECTIONS)

# SECTIONS= names some of the sections of benchmarks/graphs.py; without it all are run.
bench-graphs: $(VENV)/bench/.ready
	OMP_NUM_THREADS=1 $(VENV)/bench/bin/python -m benchmarks.graphs $(SECTIONS)

$(VENV)/bench-%/.ready: benchmarks/peers/%_membership.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-$*
	$(VENV)/bench-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# SECTIONS= names some of the sections of benchmarks/attacks.py.
bench-attacks: $(VENV)/.dev $(VENV)/bench-art/.ready
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.attacks $(SECTIONS)

# SECTIONS= names some of the sections of benchmarks/query.py, and where the peers' environments are.
QUERY_PEERS = opendp smartnoise pipelinedp tumult
bench-query: $(VENV)/.dev $(foreach peer,$(QUERY_PEERS),$(VENV)/bench-$(peer)/.ready)
	$(BIN)/python -m benchmarks.query $(SECTIONS) $(foreach peer,$(QUERY_PEERS),$(peer)=$(VENV)/bench-$(peer)/bin/python)

# There is no peer to install. SECTIONS= names some of the sections of benchmarks/parties.py.
bench-parties: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.parties $(SECTIONS)

$(VENV)/bench-%/.ready: benchmarks/peers/%_encrypted.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-$*
	$(VENV)/bench-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# SECTIONS= names some of the sections of benchmarks/encrypted.py.
bench-encrypted: $(VENV)/.dev $(VENV)/bench-phe/.ready
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.encrypted $(SECTIONS)

$(VENV)/bench-%/.ready: benchmarks/peers/%_answers.txt | $(BIN)/python
	$(PYTHON) -m venv $(VENV)/bench-$*
	$(VENV)/bench-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# gcc makes syncs slower. SECTIONS= names some of the sections of benchmarks/platform.py.
# DISCREET_BENCH_DISK= names a folder on the disk that is measured.
bench-platform: $(VENV)/.dev $(VENV)/bench-lomas/.ready
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.platform $(SECTIONS)

# What attacks find in private releases, for the manual: docs/attack_table.md.
attack-table: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.attacks_private

# 200 analysts at once, on the bare disk and with slower syncs. SECONDS= how long each load lasts.
load: $(VENV)/.dev
	$(BIN)/python -m benchmarks.platform_server $(SECONDS)

# Schemathesis over the whole description of a site: about N= requests, four times, for each of its ways.
N ?= 300
$(VENV)/fuzz/.ready:
	$(PYTHON) -m venv $(VENV)/fuzz
	$(VENV)/fuzz/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/schemathesis.txt
	@touch $@

fuzz: $(VENV)/.dev $(VENV)/fuzz/.ready
	$(BIN)/python -m benchmarks.fuzz_site $(VENV)/fuzz/bin/schemathesis $(N)

bench: bench-foundation bench-sums bench-statistics bench-learners bench-deep bench-local bench-graphs bench-sequential bench-release bench-attacks bench-parties bench-encrypted bench-query bench-platform

# The manual draws and lists what every room offers, with nothing but the extra `docs`.
docs: $(VENV)/.dev
	$(BIN)/python docs/alone.py docs mkdocs build --strict
