# Programs of a user, built as a user builds them: the installed header and the library alone.
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

.PHONY: examples test-examples
examples: $(EXAMPLES)
$(BUILD)/examples/%: examples/%.c $(BUILD)/libhone.a
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) -std=c11 -O2 $(WARNINGS) -Iinclude $< -o $@ $(LDFLAGS) $(BUILD)/libhone.a $(LDLIBS)
test-examples: $(EXAMPLES)
	$(BUILD)/examples/run_artifact zoo:mlp $(BUILD)/examples/mlp.so
