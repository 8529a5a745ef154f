# The kernels' own benchmark: build/bench-kernels [--isa NAME] [FILTER].
$(BUILD)/bench-kernels: bench/kernels.c bench/kernel_problems.def tests/unit/kernel_snippet.h src/kernels/reference.h $(BUILD)/libhone.a
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) -Isrc $(CFLAGS) $< -o $@ $(LDFLAGS) $(BUILD)/libhone.a $(LDLIBS)
