# Random graphs through the compiler against the reference: build/random-graphs [--seed N] [--count N].
$(BUILD)/random-graphs: tests/tools/random_graphs.c tests/tools/random_ops.c tests/tools/random_graphs.h $(BUILD)/internal.a
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(filter %.c,$^) -o $@ $(LDFLAGS) $(BUILD)/internal.a $(LDLIBS)
