# A thin front for CMake: `make run` and `make test` do everything on a fresh Debian or Ubuntu machine.

BUILD = build/release
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
GENERATOR = $(shell command -v ninja >/dev/null && echo -G Ninja)
TARGETS = $(if $(filter quick,$(LABEL)),quick_tests,all yoke_tests)

SOURCES = find include src apps tool tests bench examples -name '*.[ch]' 2>/dev/null

.PHONY: build programs run test bench install clean format check-format packages help

build: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) --target $(TARGETS) --parallel $(JOBS)

programs: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) --parallel $(JOBS)

$(BUILD)/CMakeCache.txt:
	@mkdir -p $(BUILD)
	@echo "Configuring $(BUILD)"
	@cmake --preset release $(GENERATOR) >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; rm -f $@; exit 1; }

# Installs what is missing to build, run and test.
packages:
	@tools/install-packages

run: packages
	@$(MAKE) --no-print-directory programs
	@mkdir -p out
	$(BUILD)/bin/yoke fem examples/drill-hole.yaml --json out/drill-hole.json

test: packages
	@$(MAKE) --no-print-directory build
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error --parallel $(JOBS) $(if $(LABEL),-L '^$(LABEL)$$')

bench: programs
	@bench/run

install: programs
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build

help:
	@echo 'make                     builds programs and tests in $(BUILD)'
	@echo 'make programs            builds the programs alone'
	@echo 'make run                 installs packages that are missing (apt), builds, solves examples/drill-hole.yaml'
	@echo 'make test                installs packages that are missing (apt), builds, runs all tests'
	@echo 'make test LABEL=quick    the same, but runs only the tests with this label, such as quick, fem or fmm'
	@echo 'make bench               measures yoke on this machine, for some minutes'
	@echo 'make install PREFIX=DIR  installs programs, libraries, manual pages and examples; by default in $(PREFIX)'
	@echo 'make packages            installs packages that are missing (apt)'
	@echo 'make format              formats the source by clang-format; check-format says what it would change'
	@echo 'make clean               removes build'
	@echo 'JOBS=N builds and tests with N processes; by default one per core.'

format:
	@$(SOURCES) | xargs clang-format -i

check-format:
	@$(SOURCES) | xargs clang-format --dry-run -Werror
