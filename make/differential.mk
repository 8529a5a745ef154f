# The same graph on every way through hone and on ONNX Runtime: random graphs with metamorphic pairs, the zoo, and with
# DIFFERENTIAL="--models DIR" a collection. Hours; `make test` runs its short form. TEST_PYTHON needs onnx and onnxruntime.
DIFFERENTIAL_COUNT ?= 2000
.PHONY: differential
differential: $(BUILD)/hone
	$(TEST_PYTHON) tests/differential/run.py --hone $(BUILD)/hone --count $(DIFFERENTIAL_COUNT) --zoo $(DIFFERENTIAL)
