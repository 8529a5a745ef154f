# The same cells against themselves, 200 pairs, half of them beside a disturber: AA="--pairs 40" for a
# shorter run. Needs the engines; takes an hour.
.PHONY: aa
aa: $(BUILD)/hone setup-engines
	python3 bench/aa.py --hone $(BUILD)/hone $(AA)
