# The gate against itself, 200 runs over two copies of one build, half of them beside a disturber, and a planted 3 %:
# GATE_AA="--runs 20" for a shorter one. Takes about an hour.
.PHONY: gate-aa
gate-aa: $(BUILD)/hone
	python3 bench/gate_aa.py --hone $(BUILD)/hone $(GATE_AA)
