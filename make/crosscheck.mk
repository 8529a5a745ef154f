# Compares the medians of `hone bench` with those of the engines' own tools: docs/understand/fairness.md. CROSSCHECK="--env iree=DIR
# --rounds 3" names environments and shortens it; a tool that is absent is skipped. Takes about ten minutes.
.PHONY: crosscheck
crosscheck: $(BUILD)/hone
	$(TEST_PYTHON) bench/crosscheck.py --hone $(BUILD)/hone $(CROSSCHECK)
