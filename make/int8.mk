# Quantised zoo models, and those of a collection with INT8="--models DIR", on native and the engines that run them:
# tables of ratios to the fastest other engine whose outputs are right. Takes an hour.
.PHONY: bench-int8
bench-int8: $(BUILD)/hone setup-engines
	$(TEST_PYTHON) bench/int8.py --hone $(BUILD)/hone --work $(BUILD)/int8 $(INT8)
