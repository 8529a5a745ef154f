# How much slower the choice of `hone recommend` is than the fastest of an exhaustive study, over the zoo and, with
# REGRET="--models DIR", a model collection; the page is docs/log/regret.md. Takes minutes a model, and goes on
# where it ended.
.PHONY: regret
regret: $(BUILD)/hone setup-engines
	python3 bench/regret.py --hone $(BUILD)/hone --out docs/log/regret.md --state $(BUILD)/regret.jsonl $(REGRET)
