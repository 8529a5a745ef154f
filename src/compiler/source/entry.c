/* The run function. It prints the plan in order as one function, `next`, which executes the steps
 * of a single thread and returns wherever all threads must work; the next call continues after that
 * point. A stage is what all threads work on: a group of concurrent steps with at least one
 * parallel step.
 */
#include "source_internal.h"

enum { ROW_STEPS = 128 };

static bool all_serial(const struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++)
    if (!plan->steps.at[i]->serial) return false;
  return true;
}

static bool uses_tiles(const struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++)
    if (plan->steps.at[i]->kind == STEP_KERNEL &&
        plan->steps.at[i]->choice.kernel->features & CPU_AMX_TILE)
      return true;
  return false;
}

/* Linux grants AMX tiles to a process on request, for all its threads and permanently, so the
   program that loads the artifact need not ask. Without the request the first tile instruction
   ends the process. Repeating it costs a system call. Source: Linux
   Documentation/arch/x86/xstate.rst. */
static void emit_tiles(struct strbuf *out) {
  strbuf_puts(out,
              "static int has_tiles(void) {\n  enum { ARCH_PRCTL = 158, REQUEST_STATE = 0x1023, "
              "TILE_DATA = 18 };\n"
              "  long result;\n  __asm__ volatile(\"syscall\" : \"=a\"(result) : "
              "\"0\"((long)ARCH_PRCTL), \"D\"((long)REQUEST_STATE), \"S\"((long)TILE_DATA) "
              ": \"rcx\", \"r11\", \"memory\");\n  return !result;\n}\n\n");
}

/* The end of the group of concurrent steps that begins at `first`, and what of it runs on all
   threads. */
struct fusion_group {
  size_t end;
  bool shared, scratch;
  int64_t units, chunks; /* the largest of its parallel steps */
};

static struct fusion_group group_at(const struct plan *plan, size_t first) {
  struct fusion_group g = {.end = first};
  for (; g.end < plan->steps.count; g.end++) {
    const struct step *step = plan->steps.at[g.end];
    if (g.end > first && !step->overlaps_previous) break;
    g.scratch |= step->scratch != NULL;
    if (step->serial) continue;
    g.shared = true;
    if (step->units > g.units) g.units = step->units;
    if (step->chunks > g.chunks) g.chunks = step->chunks;
  }
  return g;
}

static void emit_bracket(struct strbuf *out, const struct step *step) {
  switch (step->kind) {
    case STEP_IF:
      strbuf_puts(out, "      if (*");
      emit_address(out, &step->inputs[0], true);
      strbuf_puts(out, ") {\n");
      break;
    case STEP_LOOP: /* re-entered at a stage's case inside it */
      strbuf_puts(out, "      while (!f->status && *");
      emit_address(out, &step->inputs[0], true);
      strbuf_puts(out, ") {\n");
      break;
    case STEP_ELSE:
      strbuf_puts(out, "      } else {\n");
      break;
    default:
      strbuf_puts(out, "      }\n");
  }
}

static bool any_open(const struct port *ports, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (int d = 0; d < ports[i].shape.rank; d++)
      if (ports[i].extents[d]) return true;
  return false;
}

/* The sizes that the caller passes, or the bounds if it passes none. */
static void emit_sizes(struct strbuf *out, const struct plan *plan) {
  if (!any_open(plan->inputs, plan->input_count)) return;
  strbuf_puts(
      out,
      "  for (int32_t i = 0; i < input_count; i++)\n"
      "    for (int32_t d = 0; d < inputs[i].rank; d++) {\n"
      "      const int32_t k = inputs[i].extents[d];\n"
      "      const int64_t size = io->input_dims && io->input_dims[i] ? io->input_dims[i][d] : "
      "inputs[i].dims[d];\n"
      "      if (size < 0 || size > inputs[i].dims[d] || (!k && size != inputs[i].dims[d])) return "
      "8;\n"
      "      if (k && extents[k] >= 0 && extents[k] != size) return 8;\n"
      "      if (k) extents[k] = size;\n"
      "    }\n");
}

static void emit_sized_extents(struct strbuf *out, const struct plan *plan) {
  if (plan->sized_extents.count) strbuf_puts(out, "  const long *const less = f.less;\n");
  for (size_t i = 0; i < plan->sized_extents.count; i++) {
    const struct sized_extent *extent = &plan->sized_extents.at[i];
    strbuf_printf(out, "  extents[%u] = ", (unsigned)extent->number);
    emit_size(out, extent->bound, &extent->slope);
    strbuf_puts(out, ";\n");
  }
}

static void emit_output_sizes(struct strbuf *out, const struct plan *plan) {
  strbuf_puts(
      out,
      "  if (!f.status && io->output_dims)\n    for (int32_t i = 0; i < output_count; i++)\n"
      "      for (int32_t d = 0; d < outputs[i].rank; d++)\n        if (io->output_dims[i]) "
      "io->output_dims[i][d] = ");
  if (any_open(plan->outputs, plan->output_count))
    strbuf_puts(out, "outputs[i].extents[d] ? extents[outputs[i].extents[d]] : ");
  if (plan->symbols.count)
    strbuf_puts(out, "hone_open_dim(&outputs[i], d, f.less);\n");
  else
    strbuf_puts(out, "outputs[i].dims[d];\n");
}

/* Calls of the steps [first, end), each with its chunk. */
static void emit_calls(struct strbuf *out, size_t first, size_t end, const char *chunk,
                       bool profiles) {
  for (size_t i = first; i < end; i++)
    if (profiles)
      strbuf_printf(out, "      PROFILED(%zu, s%zu(f, %s, t));\n", i, i, chunk);
    else
      strbuf_printf(out, "      s%zu(f, %s, t);\n", i, chunk);
}

/* The run function while it is written: rows of calls moved into functions are printed before
   it. */
struct run_source {
  bool profiles;
  struct strbuf rows, functions;
};

/* Calls of the steps [first, end), each with its chunk; long rows become functions of at most
   ROW_STEPS, because the compile time of a function grows faster than its length. */
static void emit_row(struct run_source *run, size_t first, size_t end, const char *chunk) {
  if (end - first <= ROW_STEPS) {
    emit_calls(&run->functions, first, end, chunk, run->profiles);
    return;
  }
  for (size_t at = first; at < end; at += ROW_STEPS) {
    strbuf_printf(&run->rows,
                  "static NOIPA void row%zu(struct frame *f, long c, long n, long t) {\n", at);
    emit_calls(&run->rows, at, end - at < ROW_STEPS ? end : at + ROW_STEPS, "c, n", run->profiles);
    strbuf_puts(&run->rows, "}\n\n");
    strbuf_printf(&run->functions, "      row%zu(f, %s, t);\n", at, chunk);
  }
}

/* One past the last group from `first` on that a single thread executes. */
static size_t single_thread_end(const struct plan *plan, size_t first) {
  size_t i = first;
  while (i < plan->steps.count && plan->steps.at[i]->kind < STEP_IF) {
    const struct fusion_group g = group_at(plan, i);
    if (g.shared) break;
    i = g.end;
  }
  return i;
}

/* Of a stage of one step: sizes may leave so little work that this thread does it. */
static bool emit_alone(struct run_source *run, const struct step *step, size_t i) {
  struct strbuf *out = &run->functions;
  if (!has_open_units(step) || step->alone_units < 1) return false;
  strbuf_puts(out, "      {\n");
  emit_open_units(out, step);
  strbuf_printf(out, "  is_small = units <= %lldl;\n      }\n      if (is_small) {\n",
                (long long)step->alone_units);
  emit_calls(out, i, i + 1, "0, 1", run->profiles);
  strbuf_puts(out, "      } else {\n");
  return true;
}

static void emit_next(const struct plan *plan, struct run_source *run) {
  struct strbuf *out = &run->functions;
  int stage = 0;
  strbuf_puts(out,
              "/* The steps of a single thread, up to the next stage. */\n"
              "static void next(void *argument, int32_t thread, struct hone_stage *stage) {\n"
              "  struct frame *const f = argument;\n");
  /* any thread may be here, even one without scratch memory; it is alone, so it may use the
     first thread's */
  strbuf_printf(out, "  const long t = thread < %d ? thread : 0;\n  (void)t;\n",
                plan->scratch_threads);
  if (plan->symbols.count) strbuf_puts(out, "  int is_small = 0;\n  (void)is_small;\n");
  strbuf_puts(out, "  switch (f->stage) {\n    case 0:;\n");
  for (size_t i = 0; i < plan->steps.count;) {
    if (plan->steps.at[i]->kind >= STEP_IF) {
      emit_bracket(out, plan->steps.at[i++]);
      continue;
    }
    const size_t end = single_thread_end(plan, i);
    if (end > i) {
      emit_row(run, i, end, "0, 1");
      i = end;
      continue;
    }
    const struct fusion_group g = group_at(plan, i);
    stage++;
    const bool has_choice = g.end == i + 1 && emit_alone(run, plan->steps.at[i], i);
    strbuf_printf(out, "      share(f, stage, %d, %lldl, %lldl, ", stage, (long long)g.units,
                  (long long)g.chunks);
    strbuf_printf(out, g.scratch ? "%d" : "INT32_MAX", plan->scratch_threads);
    strbuf_printf(out, ");\n      return;\n%s    case %d:;\n", has_choice ? "      }\n" : "",
                  stage);
    i = g.end;
  }
  strbuf_puts(out, "  }\n  stage->chunks = 0;\n}\n\n");
}

static void emit_work(const struct plan *plan, struct run_source *run) {
  struct strbuf *out = &run->functions;
  int stage = 0;
  strbuf_puts(out,
              "/* A chunk of the stage. */\n"
              "static void work(void *argument, int32_t chunk, int32_t thread) {\n"
              "  struct frame *const f = argument;\n"
              "  const long c = chunk, n = f->chunks, t = thread;\n  switch (f->stage) {\n");
  for (size_t i = 0; i < plan->steps.count;) {
    struct fusion_group g = group_at(plan, i);
    if (plan->steps.at[i]->kind >= STEP_IF) {
      i++;
      continue;
    }
    if (g.shared) {
      strbuf_printf(out, "    case %d:\n", ++stage);
      emit_row(run, i, g.end, "c, n");
      strbuf_puts(out, "      break;\n");
    }
    i = g.end;
  }
  strbuf_puts(out, "  }\n}\n\n");
}

static const char share_source[] =
    "/* Begins a stage: equal parts for all threads if there are enough work items, and as many as "
    "a "
    "part is worth. */\n"
    "static void share(struct frame *f, struct hone_stage *stage, int32_t number, long units,\n"
    "                  long chunks, int32_t threads) {\n"
    "  if (stage->threads > threads) stage->threads = threads;\n"
    "  const long count = stage->threads, most = stage->chunks * count;\n"
    "  if (chunks > most) chunks = most;\n"
    "  chunks = chunks < count ? count : chunks - chunks % count;\n"
    "  if (chunks > units) chunks = units;\n"
    "  stage->chunks = (int32_t)chunks;\n"
    "  f->stage = number;\n  f->chunks = chunks;\n}\n\n";

void emit_run(struct emitter *e) {
  const struct plan *plan = e->plan;
  bool alone = all_serial(plan);
  if (!alone) strbuf_puts(e->out, share_source);
  struct run_source run = {.profiles = e->profiles > 0};
  emit_next(plan, &run);
  if (!alone) emit_work(plan, &run);
  struct strbuf *const parts[] = {&run.rows, &run.functions};
  for (size_t i = 0; i < COUNT(parts); i++) {
    strbuf_append(e->out, parts[i]->at ? parts[i]->at : "", parts[i]->length);
    e->out->failed |= parts[i]->failed;
    strbuf_deinit(parts[i]);
  }
  if (uses_tiles(plan)) emit_tiles(e->out);
  strbuf_puts(e->out,
              "static int32_t run(const void *weights, void *arena, const struct hone_io *io,\n"
              "                   const struct hone_team *team) {\n");
  if (plan->extent_count) {
    strbuf_printf(
        e->out,
        "  int64_t extents[%zu];\n  memset(extents, 0xff, sizeof extents); /* -1: not known yet "
        "*/\n",
        plan->extent_count + 1);
    emit_sizes(e->out, plan);
  }
  strbuf_printf(e->out,
                "  struct frame f = {.weights = weights, .arena = arena,\n"
                "                    .inputs = io->inputs, .outputs = io->outputs%s};\n",
                plan->extent_count ? ", .extents = extents" : "");
  if (plan->string_bytes)
    strbuf_printf(
        e->out,
        "  f.texts.at = (char *)arena + %zu;\n  f.texts.size = %zu; /* bytes for new strings "
        "*/\n",
        plan->string_offset, plan->string_bytes);
  if (plan->symbols.count)
    strbuf_printf(e->out,
                  "  if (!hone_find_less(inputs, input_count, bounds, least, %zu, derived, %zu, "
                  "io->input_dims, f.less)) return %d;\n",
                  plan->symbols.count, plan->symbols.derived_count, (int)HONE_E_SHAPE);
  emit_sized_extents(e->out, plan);
  if (uses_tiles(plan))
    strbuf_printf(e->out, "  if (!has_tiles()) return %d; /* the system refuses AMX */\n",
                  (int)HONE_E_UNSUP);
  if (alone) {
    strbuf_puts(e->out,
                "  struct hone_stage stage = {1, 1};\n  (void)team; /* too small to share */\n"
                "  next(&f, 0, &stage);\n");
  } else {
    strbuf_puts(e->out,
                "  const struct hone_job job = {&f, next, work};\n"
                "  if (team) {\n    team->run(team->self, &job);\n  } else {\n"
                "    for (struct hone_stage s = {1, 1}; next(&f, 0, &s), s.chunks;)\n"
                "      work(&f, 0, 0);\n  }\n");
  }
  emit_output_sizes(e->out, plan);
  strbuf_puts(e->out, "  return f.status;\n}\n\n");
}
