/* Builds a program or library from C files in a folder that hone itself wrote: one call of the C
 * compiler. The caller runs the result.
 */
#include "toolchain_internal.h"

#define PROGRAM_NS 600000000000ull

hone_status toolchain_program(struct ctx *ctx, const char *cc, const char *directory,
                              const char *const *words, const char *product) {
  struct compiler compiler;
  struct arguments arguments = {0};
  static const char *const always[] = {
      "-std=gnu11", "-O2", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-s", "-o", NULL};
  TRY(compiler_find(ctx, cc, NULL, &compiler));
  compiler_start(&compiler, &arguments);
  arguments_add(&arguments, always);
  argument(&arguments, product);
  arguments_add(&arguments, words);
  return tool_run(ctx, &arguments, directory, clock_ns() + PROGRAM_NS, product, NULL, NULL);
}
