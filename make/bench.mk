# The main job, from nothing: packages, build, engines, one study of five models on three backends.
BENCH_MODELS := zoo:mlp zoo:conv zoo:transformer zoo:mobilenet_v3_small zoo:resnet18
BENCH_BACKENDS := native,onnxruntime,openvino
BENCH_FLAGS ?=
BENCH_OUT := $(BUILD)/bench

.PHONY: bench readme-table
bench: $(BUILD)/hone setup-engines
	@mkdir -p $(BENCH_OUT)
	@rm -f $(BENCH_OUT)/bench.* # files of an older build have no mark that hone recognises
	@git describe --always --dirty --abbrev=12 >$(BENCH_OUT)/commit 2>/dev/null || rm -f $(BENCH_OUT)/commit
	$(BUILD)/hone bench $(BENCH_MODELS) --backend $(BENCH_BACKENDS) --resume never --name make-bench $(BENCH_FLAGS) \
	  --html $(BENCH_OUT)/bench.html --json $(BENCH_OUT)/bench.json --md $(BENCH_OUT)/bench.md
	@echo
	@echo "page:  $(abspath $(BENCH_OUT))/bench.html"
	@echo "JSON:  $(abspath $(BENCH_OUT))/bench.json"

# Puts the matrix of the last `make bench` between README's marks, and the page's picture where there is a browser.
readme-table: $(BUILD)/hone
	tools/readme_table.sh $(BENCH_OUT) README.md docs/images/bench.png
