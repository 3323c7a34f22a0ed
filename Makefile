# Two commands for a fresh machine with Python, pip, a C++ compiler and make:
#   make demo   set up, train on the sample corpus, show the result
#   make test   set up and run the tests of the Python package, on all processors
# Further: make lint, make core-test, make nightly (random cases, others each time; ROUNDS=10 for more),
# make fuzz (hostile input; needs clang), make faults (a fault at each call that writes; twenty minutes),
# make bench (BENCH= for the full suite, which takes an hour).

VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
SOURCES = pyproject.toml CMakeLists.txt $(wildcard core/* bindings/* aligner/*) \
	$(shell find src/pairpiece -name '*.py' -o -name 'report.*' -o -name 'sample.*')

.PHONY: demo test nightly faults lint core-test fuzz bench clean

# What users install; the tests need more, and their installation is good for the demo too.
$(BIN)/usable: $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet ".[align]"
	touch $@

$(BIN)/testable: $(SOURCES)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet -C cmake.define.PAIRPIECE_WERROR=ON ".[test,dev]"
	touch $(BIN)/usable $@

demo: $(BIN)/usable
	$(BIN)/pairpiece demo

test: $(BIN)/testable
	@echo 'Tests that need PyTorch can be left out:  make test TESTS="-m \"not torch\""'
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)

ROUNDS ?= 1
nightly: $(BIN)/testable
	for round in $$(seq $(ROUNDS)); do \
		HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -n auto --dist worksteal \
			-m hypothesis $(TESTS) || exit 1; \
	done

# A failure, and a kill, at each call that writes: in saving, in a training, in a transfer.
faults: $(BIN)/testable
	PAIRPIECE_FAULTS_EVERY=1 $(BIN)/python -m pytest -s -n 0 tests/model/test_saving_faults.py \
		tests/run/test_training_faults.py tests/pretrained/test_transfer_faults.py

lint: $(BIN)/testable
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

CLANG ?= clang++
fuzz: $(BIN)/testable
	cmake -S . -B $(VENV)/fuzz -DCMAKE_CXX_COMPILER=$(CLANG) -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DPAIRPIECE_FUZZ=ON -DPAIRPIECE_SANITIZE=ON
	cmake --build $(VENV)/fuzz --parallel 2
	$(BIN)/python fuzz/run.py --core $(VENV)/fuzz/fuzz/core $(FUZZ)

BENCH ?= --quick
bench: $(BIN)/testable
	$(BIN)/python benchmarks/suite.py $(BENCH)

clean:
	rm -rf $(VENV) build
