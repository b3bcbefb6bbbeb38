# Every target sets itself up: a virtual environment in .venv, nothing global.
PYTHON ?= python3
BIN := .venv/bin
SEED := $(or $(SEED),$(shell date +%s))
MINUTES ?= 10

.PHONY: demo quick golden test lint kernels engines docs fuzz bench peers paper release-check lock clean

demo: .venv/user
	$(BIN)/nn2rules demo -o demo-report.html

# The files that are quick and break first, for use while you work.
QUICK := tests/space tests/language tests/network tests/rules tests/files/test_formats.py \
  tests/files/test_tables.py tests/extraction/test_extract.py \
  tests/extraction/test_decision_list.py tests/engine/test_table.py

quick: .venv/dev
	$(MAKE) lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal $(QUICK)

test: .venv/dev
	$(MAKE) --jobs=2 lint kernels engines
	$(BIN)/python -m pytest -q -n auto --dist worksteal
	NN2RULES_HYPOTHESIS=fresh $(BIN)/python -m pytest -q -n auto --dist worksteal tests \
	  -m hypothesis --hypothesis-seed=$(SEED)

# Rewrite golden files and the output of examples; read the difference before committing.
golden: .venv/dev
	-NN2RULES_GOLDEN=1 $(BIN)/python -m pytest -q tests/export/test_documents.py tests/frozen \
	  tests/cli/test_cli.py -k "golden or frozen or documents or docs_show"
	$(BIN)/python scripts/rewrite_examples.py README.md $(shell find docs -name '*.md')

engines: .venv/dev
	@tests/engines.sh

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled while mypy works, once: each process of the tests would compile them anew.
kernels: .venv/dev
	$(BIN)/python tests/kernels.py

docs: .venv/dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs site
	@echo; echo "Open site/index.html in a browser."

fuzz: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)

bench: .venv/dev
	$(BIN)/python benchmarks/run.py

# Goes on where the last run stopped; PEERS="--again all --peers rules" measures anew.
peers: .venv/dev
	$(BIN)/python benchmarks/peers $(PEERS)
	$(BIN)/python benchmarks/run.py peers "peers more classes" "peers summaries" "peers tables"
	$(BIN)/python scripts/fill_results.py

paper: .venv/research
	$(BIN)/python -m research -o paper-results
	@echo; echo "Open paper-results/index.html in a browser."

release-check: .venv/dev
	$(BIN)/python scripts/try_versions.py

lock: .venv/dev
	$(BIN)/python scripts/lock.py

clean:
	rm -rf .venv site

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

.venv/user: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[report]"
	@touch $@

.venv/research: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable . --group research
	@touch $@ .venv/user

.venv/dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@ .venv/user
