# Tests that compare int8 results with ONNX Runtime and OpenVINO, with Python in an emulated Zen 3: AVX2 without VNNI, where
# engines multiply by an instruction that saturates. Needs qemu-user; minutes.
AVX2_EMULATOR ?= qemu-x86_64 -cpu EPYC-Milan

.PHONY: test-avx2-peers
test-avx2-peers: $(BUILD)/hone $(BUILD)/native $(BUILD)/reference
	HONE=$(BUILD)/hone $(AVX2_EMULATOR) $(TEST_PYTHON) -m pytest -q -rs -p no:cacheprovider \
	  $(addprefix tests/cli/,test_contrib.py test_attention.py test_quantised_zoo.py test_quantise.py)
