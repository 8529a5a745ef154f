/* Runs the models of models.inc on a bare board: outputs as hexadecimal bytes, the instructions of a run and
 * the bytes of stack that it touched. Nothing is allocated. */
#include <string.h>

#include "board.h"
#include "models.h"

static void print_hex(uint64_t x, int digits) {
  char text[17];
  for (int i = 0; i < digits; i++) text[i] = "0123456789abcdef"[x >> 4 * (digits - 1 - i) & 15];
  text[digits] = 0;
  board_print(text);
}
static void print_number(const char *name, uint64_t x) {
  board_print(name);
  board_print(" ");
  print_hex(x, 16);
  board_print("\n");
}

/* A loop of two instructions a turn: what a tick is. */
static uint64_t ticks_of_loop(uint32_t turns) {
  const uint64_t start = board_ticks();
#if defined __riscv
  __asm__ volatile("1: addi %0, %0, -1\n bnez %0, 1b" : "+r"(turns));
#else
  __asm__ volatile("1: subs %0, %0, #1\n bne 1b" : "+r"(turns) : : "cc");
#endif
  return board_ticks() - start;
}

enum { PAINTED = STACK_BYTES / 2 };
/* The stack below this function's frame. */
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wuninitialized"
static __attribute__((noinline)) void paint(void) {
  volatile unsigned char below[PAINTED];
  for (int i = 0; i < PAINTED; i++) below[i] = 0xa5;
}
static __attribute__((noinline)) uint32_t touched(void) {
  volatile unsigned char below[PAINTED];
  int i = 0;
  while (i < PAINTED && below[i] == 0xa5) i++;
  return (uint32_t)(PAINTED - i);
}

static __attribute__((noinline)) int run(const struct model *m, const struct hone_artifact_info *info) {
  const struct hone_io io = {m->inputs, m->outputs, 0, 0};
  return (int)info->run(info->weights, arena, &io, 0);
}

int main(void) {
  print_number("loop", ticks_of_loop(1000000));
  for (int i = 0; i < MODEL_COUNT; i++) {
    const struct model *m = &models[i];
    const struct hone_artifact_info *info = m->artifact();
    memset(arena, 0x5a, sizeof arena); /* its content before a run does not matter */
    if (info->arena_bytes > sizeof arena) return 3;
    paint();
    const uint64_t start = board_ticks();
    const int status = run(m, info);
    const uint64_t ticks = board_ticks() - start;
    print_number("stack", touched());
    print_number("ticks", ticks);
    print_number("status", (uint64_t)(unsigned)status);
    if (status) return 4;
    for (int k = 0; k < info->output_count; k++) {
      board_print("output ");
      for (unsigned b = 0; b < m->output_bytes[k]; b++)
        print_hex(((const unsigned char *)m->outputs[k])[b], 2);
      board_print("\n");
    }
  }
  board_print("done\n");
  return 0;
}
