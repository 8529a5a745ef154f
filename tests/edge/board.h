/* What a bare board gives: a way to print, to stop, and to count instructions. Cortex-M by semihosting and
 * SysTick, RISC-V by a UART, a test device and minstret, as QEMU's boards have them. */
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

void board_start(void);
void board_print(const char *text);
void board_exit(int code);
/* Instructions so far, in units of board_unit() of them; 64 bits wide. */
uint64_t board_ticks(void);

#endif
