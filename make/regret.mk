# How much slower the choice of `hone recommend` is than the fastest of an exhaustive study, over the zoo and, with
# REGRET="--models DIR", a model collection; the page is $(BUILD)/regret.md, its rows belong into docs/log/regret.md. Takes
# minutes a model; an interrupted run continues.
.PHONY: regret
regret: $(BUILD)/hone setup-engines
	python3 bench/regret.py --hone $(BUILD)/hone --out $(BUILD)/regret.md --state $(BUILD)/regret.jsonl $(REGRET)
