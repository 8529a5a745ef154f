# hone from the outside, as its user and its enemy see it. TEST_PYTHON needs onnx, numpy and pytest.
.PHONY: test-cli
test-cli: $(BUILD)/hone
	HONE=$(BUILD)/hone $(TEST_PYTHON) -m pytest -q -p no:cacheprovider tests/cli
