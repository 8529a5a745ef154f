# Programs for other processors, run in an emulator: every model, every target and level. The short form of
# the same test is among the unit tests. CROSS_PACKAGES is what it needs from the distribution.
CROSS_PACKAGES := gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu qemu-user

.PHONY: test-cross
test-cross: $(BUILD)/tests/test_cross
	@echo "for every target: apt-get install $(CROSS_PACKAGES)"
	HONE_CROSS=all $(BUILD)/tests/test_cross
# Models on microcontrollers: every model and board, in an emulator (docs/how-to/microcontroller.md). The short form is among the tests of
# the command.
EDGE_PACKAGES := gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf \
                 qemu-system-arm qemu-system-misc

.PHONY: test-edge
test-edge: $(BUILD)/hone
	@echo "for every board: apt-get install $(EDGE_PACKAGES)"
	HONE=$(BUILD)/hone HONE_EDGE=all $(TEST_PYTHON) -m pytest -q -rs -p no:cacheprovider tests/cli/test_edge.py
