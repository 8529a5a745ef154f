# Lines and branches of src/ that tests reach, by folder; fails where a folder of importers is below its floor
# (tools/coverage.py; docs/testing.md). COVERAGE_UNITS: the unit tests; COVERAGE_CLI: those of the command that read
# files. Tests that fail here are named and do not stop it: -O0 is slow, and `make test` is what judges them.
# coverage-import: the importers alone, which is quicker. Only they are built for gcov, all else as it is released, and only
# what reads models runs.
COVERAGE_BUILD = build/$@
COVERAGE_READERS := damaged_% external hostile_formats import import_% memory_faults old_forms pt2_% upgrade zip
coverage: COVERAGE_UNITS ?= $(UNIT_TESTS:$(BUILD)/tests/%=%)
coverage: COVERAGE_CLI ?= test_pt2.py test_tflite.py test_hostile_models.py test_broken_rules.py test_formats.py \
                          test_old_opsets.py
coverage: COVERAGE_AT_ONCE := 1
coverage-import: COVERAGE_UNITS ?= $(filter-out test_damaged_store,\
                                     $(filter $(COVERAGE_READERS:%=test_%),$(UNIT_TESTS:$(BUILD)/tests/%=%)))
coverage-import: COVERAGE_AT_ONCE := $$(nproc)
coverage-import: COVERAGE_ONLY := --only src/compiler/import
# TEST=KIND: over every model of this kind, instead of its own.
COVERAGE_RUNS = test_import_memory=onnx test_import_memory=pt2 test_import_memory=tflite test_damaged_onnx=onnx \
                $(COVERAGE_UNITS)

OPTIMISE_coverage-import := $(OPTIMISE_release)
ifeq ($(VARIANT),coverage-import)
$(BUILD)/obj/src/compiler/import/%.o: override CFLAGS += $(OPTIMISE_coverage)
override LDFLAGS += --coverage
endif

.PHONY: coverage coverage-import
coverage coverage-import:
	@$(MAKE) --no-print-directory VARIANT=$@ BUILD=$(COVERAGE_BUILD) $(if $(COVERAGE_CLI),$(COVERAGE_BUILD)/hone) \
	  $(COVERAGE_UNITS:%=$(COVERAGE_BUILD)/tests/%)
	@find $(COVERAGE_BUILD) -name '*.gcda' -delete
	@$(TEST_PYTHON) tests/tools/coverage_models.py $(COVERAGE_BUILD)/models
	@printf '%s\n' $(COVERAGE_RUNS) | xargs -n 1 -P $(COVERAGE_AT_ONCE) sh -c 'test=$${1%=*}; \
	  [ $$test = $$1 ] || export HONE_CASES="$(COVERAGE_BUILD)/models/*.$${1#*=}"; \
	  $(COVERAGE_BUILD)/tests/$$test >$(COVERAGE_BUILD)/$$1.log 2>&1 || echo "failed: $$1"' sh
	@$(if $(COVERAGE_CLI),HONE=$(COVERAGE_BUILD)/hone $(TEST_PYTHON) -m pytest -q -p no:cacheprovider \
	  $(addprefix tests/cli/,$(COVERAGE_CLI)) >$(COVERAGE_BUILD)/cli.log 2>&1 || tail -3 $(COVERAGE_BUILD)/cli.log)
	@python3 tools/coverage.py --build $(COVERAGE_BUILD) $(COVERAGE_ONLY)
