# What must be there before a step. Each is done once; the download time of the engines is shown apart.
TESTENV := build/testenv
ENGINES := onnxruntime openvino

.PHONY: setup setup-engines setup-test setup-python
setup: $(BUILD)/packages.ok setup-engines
setup-engines: $(BUILD)/hone
	@tools/setup_engines.sh $(BUILD)/hone $(ENGINES)
setup-test: $(BUILD)/packages.ok
	@tools/setup.sh test
	@tools/setup.sh page
	@tools/setup.sh python $(TESTENV)
setup-python:
	@tools/setup.sh python $(TESTENV)
