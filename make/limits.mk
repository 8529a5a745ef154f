# Steps far below the roofline limit of the machine, for the zoo's models, and of a collection with LIMITS="--models DIR".
.PHONY: bench-limits
bench-limits: $(BUILD)/hone
	python3 bench/limits.py --hone $(BUILD)/hone $(LIMITS)
