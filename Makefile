# Every target makes the virtual environment that it needs, inside the checkout.
VERSIONS := 3.10 3.11 3.12 3.13
PYTHON ?= $(shell .ci/find-python)
VENV := .venv
RUN := $(VENV)/bin/python
# Two pytest processes with a threaded BLAS each would fight over the cores.
TEST_ENV := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
PYTEST_ARGS ?= -q -n auto

.PHONY: help setup demo test full smoke lint type fmt golden bench clean

help:
	@echo "make demo    the examples on real data, with the generated code"
	@echo "make test    the full suite on one Python, the smoke tests on each other installed one of $(VERSIONS)"
	@echo "make full    the full suite alone        make smoke-3.12   the smoke tests on that Python alone"
	@echo "make lint    ruff                        make type         mypy"
	@echo "make fmt     reformat, fix what ruff can make golden       accept the golden files as they come out now"
	@echo "make bench   import and transform time, gradient against primal and hand-written gradient"

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	@.ci/make-venv $(VENV) "$(PYTHON)" demo,test,dev libraries

demo: setup
	$(RUN) examples/demo.py

# The smoke tests run in one process each, so two versions of Python go side by side.
test: full
	@$(MAKE) --no-print-directory -j 2 --output-sync=target smoke

full: setup
	$(TEST_ENV) $(RUN) -m pytest $(PYTEST_ARGS)

smoke: $(VERSIONS:%=smoke-%)

smoke-%: setup
	@main=$$($(RUN) -c "import sys; print('%d.%d' % sys.version_info[:2])"); \
	python=$$(.ci/find-python $*); \
	if [ "$$main" = "$*" ]; then \
		echo "Python $*: the full suite runs there"; \
	elif [ -z "$$python" ]; then \
		echo "Python $*: not installed, skipped"; \
	else \
		if [ ! -e .venv-$*/.installed ] || [ pyproject.toml -nt .venv-$*/.installed ]; then \
			.ci/make-venv .venv-$* "$$python" test || exit 1; \
		fi; \
		echo "Python $*: smoke tests"; \
		$(TEST_ENV) .venv-$*/bin/python -m pytest -q -m smoke -p no:cacheprovider; \
	fi

lint: setup
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

type: setup
	$(RUN) -m mypy

fmt: setup
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

golden: setup
	$(TEST_ENV) $(RUN) -m pytest -q -m golden --update-golden

bench: setup
	$(RUN) benchmarks/import_time.py
	$(RUN) benchmarks/transform_time.py
	$(RUN) benchmarks/gradient_ratio.py
	$(RUN) benchmarks/entry_cost.py
	$(RUN) benchmarks/matrix_chain.py
	$(RUN) benchmarks/memory.py
	$(RUN) benchmarks/third_derivative.py
	$(RUN) benchmarks/hvp.py
	$(RUN) benchmarks/mutation_loop.py

clean:
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache
