# The Python package: test-python runs it from the tree, wheel makes build/wheel/*.whl with libhone, the
# command and the libraries that both need inside.
.PHONY: test-python wheel
test-python: $(BUILD)/hone $(BUILD)/libhone.so
	HONE=$(abspath $(BUILD))/hone HONE_LIBRARY=$(abspath $(BUILD))/libhone.so PYTHONPATH=python \
	  $(TEST_PYTHON) -m pytest -q -rs -p no:cacheprovider tests/python
wheel: $(BUILD)/hone $(BUILD)/libhone.so
	tools/wheel.sh $(BUILD) $(PYTHON)
