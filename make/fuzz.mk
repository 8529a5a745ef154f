# Fuzz targets of the model readers (clang with libFuzzer): `make fuzz FUZZ_SECONDS=60`; each target alone as
# `make fuzz-tflite`, `fuzz-pt2`, `fuzz-onnx`. What they find is kept in build/fuzz and becomes a file of tests/cases/fuzz.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 60
FUZZ_SOURCES = $(wildcard src/base/*.c src/graph/*.c src/ops/*.c src/import/*.c)
FUZZ_FLAGS = -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
FORMAT_tflite := 1
FORMAT_pt2 := 2
FORMAT_onnx := 0
SEEDS_tflite = tests/cases/tflite
SEEDS_pt2 = tests/cases/pt2
SEEDS_onnx = tests/cases/import
.PHONY: fuzz fuzz-tflite fuzz-pt2 fuzz-onnx
fuzz: fuzz-tflite fuzz-pt2 fuzz-onnx
fuzz-tflite fuzz-pt2 fuzz-onnx: fuzz-%: $(BUILD)/fuzz/%
	@mkdir -p $(BUILD)/fuzz/corpus-$* $(BUILD)/fuzz/found-$*
	$< -max_total_time=$(FUZZ_SECONDS) -timeout=2 -rss_limit_mb=512 -max_len=65536 -print_final_stats=1 \
	  -artifact_prefix=$(BUILD)/fuzz/found-$*/ $(BUILD)/fuzz/corpus-$* $(SEEDS_$*)
$(BUILD)/fuzz/%: tests/fuzz/import.c $(FUZZ_SOURCES)
	@mkdir -p $(@D)
	$(call say,clang)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -Isrc -std=gnu11 $(FUZZ_FLAGS) $(PACKAGE_CFLAGS) -DFUZZ_FORMAT=$(FORMAT_$*) \
	  tests/fuzz/import.c $(FUZZ_SOURCES) -o $@ $(LDLIBS)
