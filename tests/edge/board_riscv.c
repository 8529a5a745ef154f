/* RISC-V: QEMU's "virt" board, a 16550 at 0x10000000 and the test device at 0x100000. */
#include "board.h"

int main(void);
void board_print(const char *text) {
  for (; *text; text++) *(volatile char *)0x10000000 = *text;
}
void board_exit(int code) {
  *(volatile uint32_t *)0x100000 = code ? (uint32_t)code << 16 | 0x3333 : 0x5555;
  for (;;) continue;
}
void board_start(void) {}
uint64_t board_ticks(void) {
  uint32_t low, high, again;
  do
    __asm__ volatile("csrr %0, minstreth\n csrr %1, minstret\n csrr %2, minstreth"
                     : "=r"(high), "=r"(low), "=r"(again));
  while (high != again);
  return (uint64_t)high << 32 | low;
}
__attribute__((used)) static void begin(void) { board_exit(main()); }
__attribute__((naked, section(".vectors"), used)) void _start(void) {
  __asm__ volatile(
      ".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\nla sp, stack_top\n"
      "li t0, 0x6000\ncsrs mstatus, t0\ntail begin\n");
}
