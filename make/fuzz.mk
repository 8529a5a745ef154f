# Fuzz targets (clang with libFuzzer), each with a mutator that knows its format: `make fuzz FUZZ_SECONDS=60`, one alone
# as `make fuzz-tflite`, so many executions as `make fuzz-npy FUZZ_RUNS=5000000 FUZZ_SECONDS=0`. The model readers: onnx,
# tflite, pt2, gguf; also npy, inflate, choices, graph (text), study (JSON), event (what workers say). What they find is
# kept in build/fuzz and becomes a test.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= -1
FUZZ_LENGTH ?= 16384
# Without traces of comparisons, which took half the time: the mutators know the formats, and edges guide them.
FUZZ_FLAGS = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_TRACES = -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp
FUZZ_FOLDERS = core/base core/os core/format core/graph core/ops core/machine core/stats core/tokens compiler/import compiler/kernels compiler/plan \
               bench/record bench/store judge/compare ui/report
FUZZ_OBJECTS = $(BUILD)/obj/embedded.o $(patsubst %.c,$(BUILD)/fuzz/obj/%.o,$(filter $(FUZZ_FOLDERS:%=src/%/%),$(SOURCES)) src/bench/wire/protocol.c)
FUZZ_TARGETS = onnx tflite pt2 gguf npy inflate choices graph study event
FORMAT_tflite := 1
FORMAT_pt2 := 2
FORMAT_onnx := 3
FORMAT_gguf := 4
FORMAT_npy := 10
FORMAT_inflate := 11
FORMAT_choices := 12
FORMAT_graph := 13
FORMAT_study := 14
FORMAT_event := 15
.PHONY: fuzz $(FUZZ_TARGETS:%=fuzz-%)
fuzz: $(FUZZ_TARGETS:%=fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: $(BUILD)/fuzz/% $(BUILD)/fuzz/seeds
	@mkdir -p $(BUILD)/fuzz/corpus-$* $(BUILD)/fuzz/found-$*
	$< -max_total_time=$(FUZZ_SECONDS) -runs=$(FUZZ_RUNS) -timeout=5 -rss_limit_mb=1024 -max_len=$(FUZZ_LENGTH) -print_final_stats=1 \
	  -artifact_prefix=$(BUILD)/fuzz/found-$*/ $(BUILD)/fuzz/corpus-$* $(BUILD)/fuzz/seeds/$*
$(BUILD)/fuzz/seeds: tests/fuzz/seeds.py $(BUILD)/hone
	$(Q)$(TEST_PYTHON) $< $(BUILD)/hone $@
$(BUILD)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,clang)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -std=gnu11 $(FUZZ_FLAGS) $(FUZZ_TRACES) $(PACKAGE_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/fuzz/fuzz.a: $(FUZZ_OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(wildcard tests/fuzz/*.[ch]) $(BUILD)/fuzz/fuzz.a
	$(call say,link)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -Itests/fuzz -std=gnu11 $(FUZZ_FLAGS) -fsanitize=fuzzer -fno-sanitize-coverage=trace-cmp $(PACKAGE_CFLAGS) \
	  -DFUZZ_FORMAT=$(FORMAT_$*) tests/fuzz/$(if $(filter 1 2 3 4,$(FORMAT_$*)),import,data).c $(BUILD)/fuzz/fuzz.a -o $@ $(LDLIBS)
-include $(FUZZ_OBJECTS:.o=.d)
