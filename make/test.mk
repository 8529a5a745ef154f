# make check: checks and unit tests of what changed, in half a minute. make test: set-up, then every test in its short form.
# make test-full: every test in its long form. make asan, make debug: other builds; make format.
UNIT_ASAN := test_base test_tokens test_chat test_graph test_prune test_import test_import_types test_external test_upgrade test_store test_passes \
             test_record test_export test_zip test_import_shapes test_old_forms test_pt2_archives test_damaged_onnx \
             test_damaged_store test_hostile_formats
ASAN_TESTS := $(wildcard $(patsubst %,tests/unit/%.c,$(UNIT_ASAN)))

.PHONY: check test test-full test-ready test-programs test-programs-asan asan debug test-engines check-format format
check: $(BUILD)/packages.ok
	@python3 tests/check.py --build $(BUILD)
test: test-ready
	@python3 tests/run.py --build $(BUILD)
test-full: test-ready
	@python3 tests/run.py --build $(BUILD) --full
# The packages first; then Python packages and engines are fetched while the compiler works.
test-ready: $(BUILD)/packages.ok
	@tools/setup.sh test
	@tools/setup.sh page
	@$(MAKE) --no-print-directory test-programs test-programs-asan setup-python setup-engines
test-programs: all $(UNIT_TESTS) $(BUILD)/reference $(BUILD)/native $(BUILD)/random-graphs
test-programs-asan:
	@$(MAKE) --no-print-directory VARIANT=asan BUILD=$(BUILD)/asan $(ASAN_TESTS:tests/unit/%.c=$(BUILD)/asan/tests/%)

# Compiled and linked apart: after a change of the library the tests are only linked again, in a quarter of the time.
UNIT_OBJECTS := $(UNIT_TESTS:$(BUILD)/tests/%=$(BUILD)/obj/tests/unit/%.o)
$(UNIT_OBJECTS): $(BUILD)/obj/tests/unit/%.o: tests/unit/%.c $(BUILD)/flags
	@mkdir -p $(@D) $(BUILD)/tests
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) -Itests/unit $(filter-out -Wmissing-prototypes,$(CFLAGS)) -MMD -MP -MF $(BUILD)/tests/$*.d -c $< -o $@
$(UNIT_TESTS): $(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/internal.a
	$(call say,test)
	$(Q)$(CC) -o $@ $< $(LDFLAGS) $(BUILD)/internal.a $(LDLIBS) -lcmocka

# Every unit test with the address and undefined-behaviour sanitizers.
asan: $(BUILD)/packages.ok
	@tools/setup.sh test
	@$(MAKE) --no-print-directory VARIANT=asan unit-tests
debug: $(BUILD)/packages.ok
	@$(MAKE) --no-print-directory VARIANT=debug all

# Where the whole conformance suite and every model of the zoo stand on this machine's engines.
test-engines: setup-test setup-engines
	@$(MAKE) --no-print-directory conformance conformance-reference test-zoo TEST_PYTHON=$(abspath $(TESTENV))/bin/python
	$(BUILD)/hone bench zoo:mlp zoo:conv zoo:transformer --backend native,onnxruntime,openvino \
	  --rounds 3 --min-time 0.1 --min-samples 10 --warmup 0.1 --store $(BUILD)/test-engines.db --resume never
	HONE=$(BUILD)/hone $(TESTENV)/bin/python -m pytest -q -rs -p no:cacheprovider tests/engines

FORMATTED := $(sort $(shell find src/ -name '*.[ch]' -not -path '*/embedded/*')) \
             $(wildcard zoo/*.[ch] tests/unit/*.[ch] tests/tools/*.c examples/*.c include/*.h)
# Only the version of Debian 12: others lay some lines differently. Files that were in order and have not changed are left out.
check-format:
	@if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then echo "skipped: check-format needs clang-format 14"; \
	else $(MAKE) -s $(BUILD)/format.ok; fi
$(BUILD)/format.ok: $(FORMATTED) .clang-format
	clang-format --dry-run -Werror $(if $(filter .clang-format,$?),$(FORMATTED),$?)
	@touch $@
format:
	clang-format -i $(FORMATTED)
