# The ONNX backend suite against the reference evaluator, and against compiled models (-native). TEST_PYTHON needs the onnx package.
TEST_PYTHON ?= $(if $(HONE_TEST_PYTHON),$(HONE_TEST_PYTHON),build/testenv/bin/python)

.PHONY: conformance bless-conformance conformance-native bless-conformance-native
$(BUILD)/reference $(BUILD)/native: $(BUILD)/%: tests/tools/%.c $(BUILD)/libhone.a
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) -Isrc $(CFLAGS) $< -o $@ $(LDFLAGS) $(BUILD)/libhone.a $(LDLIBS)
conformance: $(BUILD)/reference
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/reference
bless-conformance: $(BUILD)/reference
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/reference --bless
conformance-native: $(BUILD)/native
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/native --status native.txt
bless-conformance-native: $(BUILD)/native
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/native --status native.txt --bless
