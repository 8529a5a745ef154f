# Identical configurations compared, 200 pairs, half of them next to a process that disturbs: AA="--pairs 40" for a
# shorter run. Needs the engines; takes an hour.
.PHONY: aa
aa: $(BUILD)/hone setup-engines
	python3 bench/aa.py --hone $(BUILD)/hone $(AA)
