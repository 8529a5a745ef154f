# Benchmarks hone's kernels and other libraries' kernels: make bench-kernels, or build/bench-kernels [--isa NAME] [FILTER].
dnnl = $(shell echo '#include <dnnl.h>' | $(CC) -E -xc - >/dev/null 2>&1 && echo -ldnnl)
.PHONY: bench-kernels
bench-kernels: $(BUILD)/bench-kernels
	$(Q)$<
$(BUILD)/bench-kernels: bench/kernels.c bench/kernel_peers.c bench/kernel_peers.h bench/kernel_problems.def \
                        tests/unit/kernel_snippet.h src/compiler/kernels/reference.h $(BUILD)/internal.a
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(filter bench/%.c,$^) -o $@ $(LDFLAGS) $(BUILD)/internal.a \
	  $(dnnl) $(LDLIBS)
