/* Cortex-M: vectors, FPU, semihosting (Arm's specification, version 2), SysTick (ARMv7-M B3.3). */
#include "board.h"

extern uint32_t stack_top;
int main(void);
static volatile uint32_t wraps;

static long semihost(long operation, const void *argument) {
  register long r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
void board_print(const char *text) { semihost(0x04, text); } /* SYS_WRITE0 */
void board_exit(int code) {
  const uint32_t reason[] = {0x20026, (uint32_t)code}; /* ADP_Stopped_ApplicationExit */
  semihost(0x20, reason);                              /* SYS_EXIT_EXTENDED */
  for (;;) continue;
}

#define SYST_CSR (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018)
void board_start(void) {
  SYST_RVR = 0xffffff;
  SYST_CVR = 0;
  SYST_CSR = 7; /* on, its interrupt, the processor's clock */
  while (!SYST_CVR) continue; /* its first event is a reload and does not count */
}
uint64_t board_ticks(void) {
  uint32_t before, now;
  do {
    before = wraps;
    now = SYST_CVR;
  } while (before != wraps);
  return ((uint64_t)before << 24) + (0xffffff - now);
}
static void tick(void) { wraps++; }
static void fault(void) {
  board_print("fault\n");
  board_exit(99);
}
static void reset(void) {
  *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* CPACR: the FPU, and what of it is MVE */
  __asm__ volatile("dsb\n isb");
  board_start();
  board_exit(main());
}
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(uintptr_t)&stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0,
    fault, fault, 0, fault, tick};
