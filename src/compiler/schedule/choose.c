/* Chooses the kernel for a problem and its parameters: the entry of a choice table, else the row
 * with the least predicted cost.
 */
#include "schedule.h"

#include <math.h>

void kernel_target_init(struct kernel_target *out, const struct target *target, int threads) {
  const struct speeds *speeds = &target->speeds;
  *out = (struct kernel_target){.vector_bytes = target->vector_bytes,
                                .vector_registers = target->vector_registers,
                                .l1_bytes = target->l1_bytes,
                                .l2_bytes = target->l2_bytes,
                                .features = target->features,
                                .threads = threads,
                                .l1_way_bytes = target->l1_way_bytes,
                                .clock_ghz = speeds->clock_ghz,
                                .f32_macs = speeds->f32_macs,
                                .bf16_macs = speeds->bf16_macs,
                                .i8_macs = speeds->i8_macs,
                                .fma_latency = speeds->fma_latency,
                                .loads = speeds->loads,
                                .l2_bytes_per_cycle = speeds->l2_bytes,
                                .memory_bytes_per_cycle = speeds->memory_bytes,
                                .memory_sharing = speeds->memory_sharing,
                                .transform_cycles = speeds->transform_cycles,
                                .transform_half_cycles = speeds->transform_half_cycles,
                                .winograd_loss = speeds->winograd_loss,
                                .amx_tile_cycles = speeds->amx_tile_cycles,
                                .claim_ns = speeds->claim_ns,
                                .fetch_ahead = (int64_t)speeds->fetch_ahead};
}

void schedule_init(struct schedule *out, const struct target *target, int threads,
                   bool prefers_size, const struct choice_table *choices) {
  *out = (struct schedule){.target = *target, .choices = choices};
  kernel_target_init(&out->kernels, target, threads);
  out->kernels.prefers_size = prefers_size;
}

bool schedule_keeps(const struct schedule *schedule, size_t bytes) {
  return bytes <= schedule->kernels.l2_bytes / 2 * 3;
}

bool schedule_has_slow_bf16(const struct schedule *schedule) {
  const struct kernel_target *target = &schedule->kernels;
  const uint32_t has = CPU_AVX512_BF16 | CPU_AMX_BF16 | CPU_BF16;
  return target->bf16_macs < target->f32_macs && (target->features & has);
}

/* -- choice tables */

enum { LINE_BYTES = 1024 };

/* Parses "PROBLEM -> CHOICE"; false if the line is neither that, nor blank, nor a comment. */
static bool parse_entry(const char *line, struct choice_entry *out, bool *out_blank) {
  char problem[LINE_BYTES];
  const char *arrow = strstr(line, "->");
  size_t first = strspn(line, " \t\r");
  *out_blank = !line[first] || line[first] == '#';
  if (*out_blank) return true;
  if (!arrow) return false;
  memcpy(problem, line, (size_t)(arrow - line));
  problem[arrow - line] = 0;
  if (!problem_parse(problem + first, &out->problem)) return false;
  out->problem = problem_before_choice(&out->problem);
  return choice_parse(arrow + 2, &out->choice);
}

hone_status choices_parse(struct ctx *ctx, struct arena *arena, struct place place,
                          const char *text, size_t length, struct choice_table *out) {
  *out = (struct choice_table){0};
  for (size_t at = 0, number = 1; at < length; number++) {
    char line[LINE_BYTES];
    const char *end = memchr(text + at, '\n', length - at);
    size_t bytes = end ? (size_t)(end - text) - at : length - at;
    bool blank = false;
    struct choice_entry entry;
    if (bytes >= sizeof line)
      return fail(ctx, HONE_E_USAGE, place, "line %zu is longer than %d characters", number,
                  LINE_BYTES - 1);
    memcpy(line, text + at, bytes);
    line[bytes] = 0;
    if (strlen(line) != bytes || !parse_entry(line, &entry, &blank))
      return fail(ctx, HONE_E_USAGE, place,
                  "line %zu is not \"PROBLEM -> CHOICE\", as --dump-after plan prints it", number);
    if (!blank) VEC_PUSH(ctx, arena, &out->entries, entry);
    at += bytes + 1;
  }
  return HONE_OK;
}

/* The last entry for a problem counts: a table is corrected by appending. */
const struct choice *choices_find(const struct choice_table *table, const struct problem *problem) {
  const struct problem wanted = problem_before_choice(problem);
  for (size_t i = table ? table->entries.count : 0; i-- > 0;)
    if (!memcmp(&table->entries.at[i].problem, &wanted, sizeof wanted))
      return &table->entries.at[i].choice;
  return NULL;
}

static bool choose_on(struct ctx *ctx, const struct schedule *schedule,
                      const struct kernel_target *target, const struct problem *problem,
                      struct choice *out) {
  const struct choice *wanted = choices_find(schedule->choices, problem);
  if (wanted) {
    *out = *wanted;
    if (kernel_serves(out->kernel, problem, target) && out->kernel->fits(problem, target, out))
      return true;
    char line[LINE_BYTES], choice[LINE_BYTES];
    problem_print(line, sizeof line, problem);
    choice_print(choice, sizeof choice, wanted);
    warn(ctx, "the choice \"%s\" does not fit %s on %s: not used", choice, line,
         schedule->target.level);
  }
  return kernel_choose(problem, target, out);
}

bool schedule_choose(struct ctx *ctx, const struct schedule *schedule,
                     const struct problem *problem, struct choice *out) {
  return choose_on(ctx, schedule, &schedule->kernels, problem, out);
}

double schedule_cost(struct ctx *ctx, const struct schedule *schedule,
                     const struct problem *problem, bool in_cache) {
  struct kernel_target target = schedule->kernels;
  struct choice choice;
  if (in_cache) target.memory_bytes_per_cycle = target.l2_bytes_per_cycle;
  return choose_on(ctx, schedule, &target, problem, &choice) ? choice.cost : INFINITY;
}
