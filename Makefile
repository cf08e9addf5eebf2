# Every tool is called as `python -m`, and every path is quoted: the folder's name may hold spaces.
# PYTHON names the interpreter that makes .venv (3.11 or newer); EXTRAS what is installed with it.
EXTRAS ?= dev
VENV := .venv
RUN := "$(VENV)/bin/python" -m
STAMP := $(VENV)/.installed-$(EXTRAS)

.PHONY: help demo test test-slow reliability lint docs bench install clean

help:
	@echo "make demo       train a German-English translator in about 3 minutes, and look at it"
	@echo "make test       ruff, mypy and the tests"
	@echo "make test-slow  the tests that take minutes"
	@echo "make reliability  every fault at every file operation; writes docs/reliability.md (hours)"
	@echo "make bench      comparisons with peers (bench/README.md)"
	@echo "make docs       write docs/recipe.md and docs/statements.md anew from the code's own sentences"
	@echo "make clean      remove .venv and everything generated"

demo: $(STAMP)
	$(RUN) regard.cli.demo

test: lint
	$(RUN) pytest -n 2 -m "not slow"

test-slow: $(STAMP)
	$(RUN) pytest -m slow

reliability: $(STAMP)
	"$(VENV)/bin/python" tests/reliability/page.py

lint: $(STAMP)
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

docs: $(STAMP)
	$(RUN) regard recipe document --output docs/recipe.md
	$(RUN) regard claims --document docs/statements.md

bench: $(STAMP)
	@if [ -f bench/run.py ]; then "$(VENV)/bin/python" bench/run.py; else echo "no bench/run.py yet"; fi

install: $(STAMP)

# The stamp makes the second run quick: pip is asked again only when the dependencies change.
$(STAMP): pyproject.toml
	@PYTHON="$(PYTHON)" sh .ci/make-venv "$(VENV)" "$(EXTRAS)"
	@touch "$@"

clean:
	rm -rf "$(VENV)" build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
