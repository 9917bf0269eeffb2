# `make setup` once; `make check` while you work; `make test` before you push.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup check test demo docs bench bench-peers bench-lock lock clean
setup: .venv/ready

.venv/ready: requirements-dev.txt pyproject.toml
	@sh tools/make-venv "$(PYTHON)"
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

check: setup  ## the inner loop, under a minute: style, types, architecture, fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache | tail -n 3
	$(BIN)/pyright
	$(BIN)/pytest -n 2 -m "not slow"

test: setup  ## everything
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright
	$(BIN)/pytest -n 2

demo: setup  ## a plan is made, a broken one refused, the mended one accepted
	@$(BIN)/chargehand demo

docs: setup  ## builds the site into site/
	$(BIN)/python docs/generate.py
	$(BIN)/zensical build --clean

bench: setup  ## holds the speed budget against what is measured, and writes docs/benchmarks.md; QUICK=1 only prints
	@$(MAKE) --no-print-directory bench-peers || echo "the peers could not be installed: their rows will say so"
	$(BIN)/python -m bench.run $(if $(QUICK),--quick,--page)

bench-peers: .venv-peers/ready  ## the runtimes that we compare with, in an environment of their own

.venv-peers/ready: bench/peers/requirements.txt | .venv/ready
	@rm -rf .venv-peers
	$(BIN)/python -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --requirement bench/peers/requirements.txt
	@touch $@

bench-lock:  ## pins what bench/peers/requirements.in asks for
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header --no-emit-index-url --no-emit-find-links bench/peers/requirements.in --output-file bench/peers/requirements.txt

lock:  ## pins what pyproject.toml asks for; no addresses are recorded
	$(BIN)/uv pip compile --quiet --universal --no-annotate --no-header --no-emit-index-url --no-emit-find-links pyproject.toml --output-file requirements.txt
	$(BIN)/uv pip compile --quiet --universal --no-annotate --no-header --no-emit-index-url --no-emit-find-links pyproject.toml --group dev --output-file requirements-dev.txt

clean:
	rm -rf .venv site dist .pytest_cache .ruff_cache .hypothesis
