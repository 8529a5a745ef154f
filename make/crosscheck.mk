# The medians of `hone bench` against an ONNX Runtime loop and OpenVINO's benchmark_app. TEST_PYTHON
# needs numpy, onnxruntime and openvino; takes about ten minutes.
.PHONY: crosscheck
crosscheck: $(BUILD)/hone
	$(TEST_PYTHON) bench/crosscheck.py --hone $(BUILD)/hone $(CROSSCHECK)
