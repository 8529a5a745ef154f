# The models of the zoo by an independent checker and engine; slow. TEST_PYTHON needs onnx and onnxruntime.
.PHONY: test-zoo
$(BUILD)/zoo_export: tests/tools/zoo_export.c $(BUILD)/internal.a
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $< -o $@ $(LDFLAGS) $(BUILD)/internal.a $(LDLIBS)
test-zoo: $(BUILD)/zoo_export
	$(TEST_PYTHON) tests/zoo/check.py --tool $(BUILD)/zoo_export $(MODELS)
