# What is not the same for every engine, each way against the engine's default: the table of docs/log/measuring.md.
# FAIR="--model zoo:mlp" for another model. Needs the engines; five minutes.
.PHONY: fair
fair: $(BUILD)/hone setup-engines
	python3 bench/fair.py --hone $(BUILD)/hone $(FAIR)
