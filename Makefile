# Two commands for a fresh machine with Python, pip, a C++ compiler and make:
#   make demo   set up and learn from the sample pairs
#   make test   set up and run all checks of the Python package

VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin

.PHONY: demo test lint core-test clean

$(BIN)/installed: pyproject.toml CMakeLists.txt $(wildcard core/*) $(wildcard bindings/*) $(wildcard src/pairpiece/*.py)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -C cmake.define.PAIRPIECE_WERROR=ON ".[test,dev]"
	touch $@

demo: $(BIN)/installed
	$(BIN)/python examples/quickstart.py

test: $(BIN)/installed
	$(BIN)/python -m pytest

lint: $(BIN)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m nanobind.stubgen -q -m pairpiece._core -o $(VENV)/_core.pyi
	diff src/pairpiece/_core.pyi $(VENV)/_core.pyi

core-test:
	cmake -S . -B $(VENV)/core -DCMAKE_BUILD_TYPE=Debug -DPAIRPIECE_CORE_TESTS=ON \
		-DPAIRPIECE_SANITIZE=ON -DPAIRPIECE_WERROR=ON
	cmake --build $(VENV)/core --parallel 2
	ctest --test-dir $(VENV)/core --output-on-failure

clean:
	rm -rf $(VENV) build
