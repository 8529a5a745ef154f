/* Child processes of this program with flags by their id; judge/recommend/child_study.h runs
   them. */
#include "cli.h"

#include <unistd.h>

hone_status self_path(struct ctx *ctx, char out[4096]) {
  const ssize_t n = readlink("/proc/self/exe", out, 4095);
  if (n <= 0) return fail(ctx, HONE_E_IO, place_none(), "/proc/self/exe cannot be read");
  out[n] = 0;
  return HONE_OK;
}

hone_status command_add_flag(struct ctx *ctx, struct command *command, enum flag_id flag,
                             const char *value) {
  static char spellings[FLAG_ID_COUNT][64];
  return command_add_option(ctx, command, flag_spelling(flag, spellings[flag]), value);
}

hone_status command_add_given(struct ctx *ctx, const struct args *args, const enum flag_id *flags,
                              size_t count, struct command *command) {
  for (size_t f = 0; f < count; f++)
    for (size_t i = 0; i < args->repeated[flags[f]].count; i++)
      TRY(command_add_flag(ctx, command, flags[f], args->repeated[flags[f]].at[i]));
  return HONE_OK;
}

hone_status self_study(struct ctx *ctx, struct arena *arena, const struct command *how,
                       const char *dir, struct summary *out) {
  char self[4096];
  TRY(self_path(ctx, self));
  return run_bench_study(ctx, arena, self, how, dir, out);
}
