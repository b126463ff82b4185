# `make demo` and `make test` need Python 3.11 or newer with pip, and nothing else done before.
# Every target makes and fills .venv as far as it needs; when nothing changed that takes no time.
# PYTHON=/path/to/python3.12 chooses the interpreter for a new .venv.

PY := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help demo test examples check static lint types contracts format docs bench check-llm constraints clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: ## Install Tenure and take the tour: no key, no network after the installation
	@scripts/venv base
	@.venv/bin/tenure demo $(ARGS)

test: ## Run the whole test suite, README and docs examples included (ARGS="-k apply" narrows it)
	@scripts/venv test
	@scripts/typescript-sdk
	@scripts/axe
	$(PY) -m pytest -n auto --dist worksteal --ignore=tests/llm $(ARGS)

examples: ## Run only the examples of README and docs
	@scripts/venv test
	$(PY) -m pytest tests/docs $(ARGS)

check: test static ## All that a change must pass: tests, lint, types, contracts, docs

static: lint types contracts ## The part of `make check` that runs no tests

lint: ## Style and likely mistakes (ruff)
	@scripts/venv test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: ## Strict types (mypy)
	@scripts/venv test
	$(PY) -m mypy

contracts: ## The layers of the package (import-linter)
	@scripts/venv test
	.venv/bin/lint-imports

format: ## Mend what ruff can mend by itself
	@scripts/venv test
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: ## Write the generated pages of docs/reference anew
	@scripts/venv test
	$(PY) docs/generate.py

bench: ## Full-size benchmarks; reports go to benchmarks/reports
	@scripts/venv test
	@$(PY) -m pip install --quiet --constraint constraints.txt --group bench
	$(PY) -m benchmarks.run --full --reports benchmarks/reports $(ARGS)

check-llm: ## The learning loop against a small real model on loopback (slow, not in CI)
	@scripts/venv llm
	$(PY) -m pytest tests/llm -v $(ARGS)

constraints: ## Pin the newest versions in constraints.txt
	@scripts/venv base
	@scripts/constraints

clean: ## Remove the environment and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
