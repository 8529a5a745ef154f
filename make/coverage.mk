# Lines and branches of src/ that tests reach, by folder; fails where a folder of importers is below its floor
# (tools/coverage.py; docs/testing.md). COVERAGE_UNITS: the unit tests; COVERAGE_CLI: those of the command that read
# files. Tests that fail here are named and do not stop it: -O0 is slow, and `make test` is what judges them.
COVERAGE_BUILD := build/coverage
COVERAGE_UNITS ?= $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
COVERAGE_CLI ?= test_pt2.py test_tflite.py test_hostile_models.py test_broken_rules.py test_formats.py test_old_opsets.py
.PHONY: coverage
coverage:
	@$(MAKE) --no-print-directory VARIANT=coverage BUILD=$(COVERAGE_BUILD) $(COVERAGE_BUILD)/hone \
	  $(COVERAGE_UNITS:%=$(COVERAGE_BUILD)/tests/%)
	@find $(COVERAGE_BUILD) -name '*.gcda' -delete
	@$(TEST_PYTHON) tests/tools/coverage_models.py $(COVERAGE_BUILD)/models
	@for t in $(COVERAGE_UNITS); do $(COVERAGE_BUILD)/tests/$$t >$(COVERAGE_BUILD)/$$t.log 2>&1 || echo "failed: $$t"; done
	@for k in onnx pt2; do HONE_CASES="$(COVERAGE_BUILD)/models/*.$$k" $(COVERAGE_BUILD)/tests/test_import_memory \
	  >$(COVERAGE_BUILD)/every-$$k.log 2>&1 || echo "failed: test_import_memory, every .$$k"; done
	@HONE_CASES="$(COVERAGE_BUILD)/models/*.onnx" $(COVERAGE_BUILD)/tests/test_damaged_onnx \
	  >$(COVERAGE_BUILD)/damaged-onnx.log 2>&1 || echo "failed: test_damaged_onnx, every .onnx"
	@HONE=$(COVERAGE_BUILD)/hone $(TEST_PYTHON) -m pytest -q -p no:cacheprovider $(addprefix tests/cli/,$(COVERAGE_CLI)) \
	  >$(COVERAGE_BUILD)/cli.log 2>&1 || tail -3 $(COVERAGE_BUILD)/cli.log
	@python3 tools/coverage.py --build $(COVERAGE_BUILD)
