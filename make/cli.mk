# hone from the outside, as its user and its enemy see it. TEST_PYTHON needs onnx, numpy and pytest.
.PHONY: test-cli
test-cli: $(BUILD)/hone
	HONE=$(BUILD)/hone $(TEST_PYTHON) -m pytest -q -p no:cacheprovider tests/cli

# The same command with the address and undefined-behaviour sanitizers, and what of its tests is about hostile files,
# outputs, inputs and the harness; not those under a limit of memory, which a sanitizer's own map would break.
ASAN_CLI := test_hostile_models.py test_inputs.py test_sinks.py test_outputs.py test_cli.py test_bench.py \
            test_open_dimensions.py test_inspect.py test_studies.py test_compare.py test_serve.py test_postgres.py \
            test_hybrid.py test_generate.py test_labels.py test_open_sizes.py test_pt2.py
.PHONY: test-cli-asan
test-cli-asan:
	@$(MAKE) --no-print-directory VARIANT=asan BUILD=$(BUILD)/asan $(BUILD)/asan/hone
	HONE=$(BUILD)/asan/hone HONE_SLOW=1 ASAN_OPTIONS=detect_leaks=0 $(TEST_PYTHON) -m pytest -q -rs \
	  -p no:cacheprovider $(addprefix tests/cli/,$(ASAN_CLI)) -k 'not limit and not memory'
