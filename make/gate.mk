# The gate against itself, 200 runs over two copies of one build, half of them next to a process that disturbs, and a planted 3 %:
# GATE_AA="--runs 20" for a shorter one, "--minutes 10" for a part of it: it goes on where it ended. Takes about an hour.
.PHONY: gate-aa
gate-aa: $(BUILD)/hone
	python3 bench/gate_aa.py --hone $(BUILD)/hone --state $(BUILD)/gate-aa.jsonl $(GATE_AA)
