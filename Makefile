# `make demo` and `make test` set up what they need, once.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: setup demo test next newest check docs wheel benchmarks soak dist clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/spor tasks register
	touch $@

demo: $(STAMP)
	$(BIN)/spor demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadgroup

# The next lm-eval, in a folder that goes before the installed one.
NEXT := $(abspath $(VENV))/next
next: $(STAMP)
	test -d $(NEXT)/lm_eval || $(BIN)/pip install --quiet --disable-pip-version-check --no-deps \
		--target $(NEXT) lm-eval==0.5.0.dev1
	PYTHONPATH=$(NEXT) $(BIN)/spor tasks register
	PYTHONPATH=$(NEXT) $(BIN)/python -m pytest -n auto --dist loadgroup tests/models tests/harness tests/evaluation

# The newest of everything but torch, in an environment of its own.
NEWEST := $(VENV)/newest
newest:
	test -d $(NEWEST) || $(PYTHON) -m venv $(NEWEST)
	grep '^torch==' constraints.txt > $(NEWEST)/torch.txt
	$(NEWEST)/bin/pip install --quiet --disable-pip-version-check -c $(NEWEST)/torch.txt \
		--upgrade --upgrade-strategy eager -e '.[dev]'
	$(NEWEST)/bin/spor tasks register
	$(NEWEST)/bin/python -m pytest -n auto --dist loadgroup

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/pages.py

# The pages as a site, in build/site; a broken link is an error.
docs: $(STAMP)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs build/site

# The wheel in new environments: the pinned and the oldest versions, and .ci/smoke.
wheel: $(STAMP)
	.ci/wheel

benchmarks: $(STAMP)
	$(BIN)/python -m docs.benchmarks

SOAKED := reliability aspects contracts core metrics prompts text \
	harness/test_filters.py harness/test_task_files.py harness/test_host.py \
	report/test_leaderboard.py
soak: $(STAMP)
	SPOR_SOAK=1 $(BIN)/python -m pytest -n auto --dist loadgroup $(SOAKED:%=tests/%)
	SPOR_SOAK=1 $(BIN)/python -m pytest -n auto --dist loadgroup -m soak tests

# What a release is made of, tried in an environment of its own.
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(PYTHON) -m venv dist/venv
	dist/venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	dist/venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		"$$(ls dist/*.whl)[train]"
	mkdir dist/tried
	cd dist/tried && PATH="$(CURDIR)/dist/venv/bin:$$PATH" $(CURDIR)/.ci/smoke

clean:
	rm -rf $(VENV) runs build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
