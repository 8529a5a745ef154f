# The suite of the pinned onnx package: compiled models, and the reference evaluator. The last line counts
# `N passed, N refused, N not asked, N wrong`; the reference leaves out the large light models. TEST_PYTHON needs
# the onnx package. LEVEL=avx2, portable or aarch64 (in an emulator): programs of that level instead; EVERY=10: a tenth.
TEST_PYTHON ?= $(if $(HONE_TEST_PYTHON),$(HONE_TEST_PYTHON),build/testenv/bin/python)

.PHONY: conformance bless-conformance conformance-reference bless-conformance-reference
$(BUILD)/reference $(BUILD)/native: $(BUILD)/%: tests/tools/%.c $(BUILD)/internal.a
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $< -o $@ $(LDFLAGS) $(BUILD)/internal.a $(LDLIBS)
conformance: $(BUILD)/$(if $(LEVEL),hone,native)
	$(TEST_PYTHON) tests/conformance/run.py --tool $< $(LEVEL:%=--level %) $(EVERY:%=--every %) --status native.txt
bless-conformance: $(BUILD)/native
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/native --status native.txt --bless
conformance-reference: $(BUILD)/reference
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/reference --without light
bless-conformance-reference: $(BUILD)/reference
	$(TEST_PYTHON) tests/conformance/run.py --tool $(BUILD)/reference --without light --bless
