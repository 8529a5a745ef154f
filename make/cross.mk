# Programs for other processors, run in an emulator: every model, every target and level. The short form of
# the same test is among the unit tests. CROSS_PACKAGES is what it needs from the distribution.
CROSS_PACKAGES := gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu qemu-user

.PHONY: test-cross
test-cross: $(BUILD)/tests/test_cross
	@echo "for every target: apt-get install $(CROSS_PACKAGES)"
	HONE_CROSS=all $(BUILD)/tests/test_cross
