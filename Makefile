# make report: the main job on real data.   make test: everything CI runs except the slow tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests start many processes, which should not compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup report test unit slow check gallery paper docs bench gpu kernel clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "attncert needs Python 3.11 or later; set PYTHON=..."; exit 1; }
	@echo "Installing attncert and what it needs into $(VENV): once, about a minute"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat -c constraints.txt -e '.[dev]'
	@touch $@

report: setup
	$(BIN)/attncert prove digits --heads 8 --head-width 4 --examples 25 --saturate 20
	$(BIN)/attncert check attncert-report/digits/certificate.json

test: setup # lint and types; the tests are most of the work
	@echo "Lint, types and tests: about three minutes on two cores"
	@$(MAKE) --no-print-directory --jobs=2 unit check
	@echo "all passed"

# Each process has one core: threads of BLAS would only wait for each other.
unit: export OPENBLAS_NUM_THREADS := 1

unit: setup
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

slow: setup # and all random examples, of which `test` draws a fifth
	ATTNCERT_EXAMPLES=all $(BIN)/python -m pytest -q -n 2 --dist worksteal -m 'slow or hypothesis'

gallery: setup
	$(BIN)/python docs/make_gallery.py

paper: setup # docs/paper.md as LaTeX and, if pdflatex is installed, as PDF in build/paper
	$(BIN)/python docs/make_paper.py

docs: setup # the site, in build/site; Pyodide and Mermaid come from npm
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=compat -c constraints.txt -e '.[docs]'
	$(BIN)/python docs/site/make.py

bench: setup
	$(BIN)/python benchmarks/prove.py
	$(BIN)/python benchmarks/rank.py --out benchmarks/results/rank.json
	$(BIN)/python benchmarks/digits.py
	$(BIN)/python benchmarks/width_one.py --large

# All tests and benchmarks for a GPU (benchmarks/README.md): no virtual environment, no network. SITE: a folder
# of unpacked wheels. PART=n: one part; AGAIN=1: from the start; DRY=1: small, without a GPU.
gpu:
	PYTHONPATH=$(CURDIR)/benchmarks:$(CURDIR)$(addprefix :,$(SITE) $(PYTHONPATH)) $(PYTHON) -m gpu \
	  $(if $(PART),--part $(PART)) $(if $(AGAIN),--again) $(if $(DRY),--dry) $(if $(OUT),--out $(OUT))

# The theorems in Coq and the verified checker; verify/kernel/Makefile names the apt packages.
kernel:
	$(MAKE) -C verify/kernel

clean:
	rm -rf $(VENV) attncert-report build *.egg-info .mypy_cache .ruff_cache .hypothesis
