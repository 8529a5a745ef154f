/* One artifact with several levels: each is planned and printed as an artifact of its own, with its
 * own prefix. Their weights share one block, equal ones stored once; a dispatch unit selects the
 * best level that the processor supports.
 */
#include "pipeline_internal.h"

#include <stdlib.h>

enum { BUILD_ID = 32 };

struct level {
  struct plan *plan;
  struct emitted emitted;
  struct build_level build;
  char prefix[112];
};

/* Weights placed so far. */
struct laid {
  VEC(const struct buffer *) buffers;
  size_t bytes;
};

/* Buffers are placed after those of earlier levels, or share their place. Packed layouts depend
   on the vector width, so only levels of equal width share. */
static hone_status lay(struct run *run, struct level *levels, size_t i, struct laid *laid) {
  struct plan *plan = levels[i].plan;
  for (size_t k = 0; k < plan->buffers.count; k++) {
    struct buffer *b = plan->buffers.at[k];
    if (b->place != BUFFER_WEIGHTS || b->first < 0 || b->over) continue;
    const struct buffer *same = NULL;
    bool one_width =
        i && levels[i - 1].plan->schedule.target.vector_bytes == plan->schedule.target.vector_bytes;
    for (size_t j = 0; (one_width || !b->pack.kernel) && j < laid->buffers.count && !same; j++)
      if (buffers_equal(laid->buffers.at[j], b)) same = laid->buffers.at[j];
    b->offset = same ? same->offset : laid->bytes;
    if (same) continue;
    VEC_PUSH(run->ctx, run->arena, &laid->buffers, b);
    laid->bytes += (b->bytes + 63) / 64 * 64;
  }
  for (size_t k = 0; k < plan->buffers.count; k++) {
    struct buffer *b = plan->buffers.at[k];
    if (b->place == BUFFER_WEIGHTS && b->over) b->offset = b->over->offset;
  }
  return HONE_OK;
}

/* Equal size for all levels: the caller allocates before it knows the level. */
static hone_status make_plans(struct run *run, const struct graph *graph, struct level *levels) {
  const struct compile_options *options = run->options;
  struct laid laid = {0};
  size_t arena_bytes = 0;
  for (size_t i = 0; i < options->level_count; i++) {
    struct compile_options one = *options;
    one.target = options->levels[i];
    run->options = &one;
    memset(run->report->work, 0, sizeof run->report->work);
    hone_status status = make_plan(run, graph, &levels[i].plan);
    run->options = options;
    TRY(status);
    TRY(lay(run, levels, i, &laid));
    if (levels[i].plan->arena_bytes > arena_bytes) arena_bytes = levels[i].plan->arena_bytes;
  }
  for (size_t i = 0; i < options->level_count; i++) {
    levels[i].plan->arena_bytes = arena_bytes;
    levels[i].plan->weights_bytes = laid.bytes;
    levels[i].plan->table_bytes = 0; /* laid in another order */
  }
  run->report->arena_bytes = arena_bytes;
  run->report->weights_bytes = laid.bytes;
  return HONE_OK;
}

static hone_status emit_level(struct run *run, struct level *level, const char *prefix) {
  const struct target *target = &level->plan->schedule.target;
  struct emit_options options = {
      .prefix = level->prefix, .weights = prefix, .kernel_dir = run->options->kernel_dir};
  int n = snprintf(level->prefix, sizeof level->prefix, "%s_%s", prefix, target->level);
  if (n < 0 || (size_t)n > 63)
    return fail(run->ctx, HONE_E_USAGE, place_name(prefix),
                "with levels the prefix has at most 48 letters");
  TRY(emit_plan(run->ctx, run->arena, level->plan, &options, &level->emitted));
  level->build =
      (struct build_level){target, level->emitted.common.at, level->emitted.common.length};
  return HONE_OK;
}

/* The levels are one artifact: replaces each level's build id by the common one. */
static hone_status share_build_id(struct run *run, struct level *levels, struct emitted *out) {
  struct strbuf ids = {0};
  size_t count = run->options->level_count;
  for (size_t i = 0; i < count; i++) strbuf_puts(&ids, levels[i].emitted.build_id);
  hone_status status = strbuf_finish(run->ctx, &ids);
  if (!status) hash_hex(out->build_id, ids.at, ids.length);
  strbuf_deinit(&ids);
  for (size_t i = 0; i < count && !status; i++) {
    const struct emitted *e = &levels[i].emitted;
    char *at = strstr(e->units[e->unit_count - 1].source.at, e->build_id);
    if (!at) return fail(run->ctx, HONE_E_INTERNAL, place_none(), "a level without a build id");
    memcpy(at, out->build_id, BUILD_ID);
  }
  return status;
}

static int by_offset(const void *a, const void *b) {
  const struct emitted_part *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The parts of all levels in storage order, shared ones once. */
static hone_status join_parts(struct run *run, struct level *levels, struct emitted *out) {
  size_t count = 0;
  for (size_t i = 0; i < run->options->level_count; i++) {
    count += levels[i].emitted.part_count;
    if (levels[i].emitted.weights_bytes > out->weights_bytes)
      out->weights_bytes = levels[i].emitted.weights_bytes;
  }
  TRY(NEW_ARRAY(run->ctx, run->arena, out->parts, count + 1));
  for (size_t i = 0; i < run->options->level_count; i++)
    for (size_t k = 0; k < levels[i].emitted.part_count; k++)
      out->parts[out->part_count++] = levels[i].emitted.parts[k];
  qsort(out->parts, out->part_count, sizeof *out->parts, by_offset);
  size_t kept = 0;
  for (size_t i = 0; i < out->part_count; i++)
    if (!kept || out->parts[i].offset != out->parts[kept - 1].offset)
      out->parts[kept++] = out->parts[i];
  out->part_count = kept;
  return HONE_OK;
}

/* The translation units of all levels; the last is the dispatch. */
static hone_status join(struct run *run, struct level *levels, const char *prefix,
                        struct emitted *out) {
  struct emit_level entries[TARGET_LEVELS_MAX];
  size_t level_count = run->options->level_count, count = 1;
  for (size_t i = 0; i < level_count; i++) {
    entries[i] = (struct emit_level){levels[i].prefix, levels[i].plan->schedule.target.features};
    count += levels[i].emitted.unit_count;
  }
  TRY(NEW_ARRAY(run->ctx, run->arena, out->units, count));
  for (size_t i = 0; i < level_count; i++)
    for (size_t k = 0; k < levels[i].emitted.unit_count; k++) {
      out->units[out->unit_count] = levels[i].emitted.units[k];
      out->units[out->unit_count++].level = &levels[i].build;
    }
  TRY(share_build_id(run, levels, out));
  TRY(join_parts(run, levels, out));
  struct strbuf *dispatch = &out->units[out->unit_count++].source;
  emit_dispatch(prefix, entries, level_count, dispatch);
  emit_typed_run(levels[0].plan, prefix, dispatch);
  if (run->options->embeds && out->weights_bytes) {
    TRY(emit_weights_text(run->ctx, run->arena, out, prefix, dispatch));
    out->weights_bytes = out->part_count = 0;
  }
  return strbuf_finish(run->ctx, dispatch);
}

static hone_status emit_levels(struct run *run, struct level *levels, const char *path) {
  const char *prefix = run->options->prefix ? run->options->prefix : "hone_model";
  struct emitted all = {0};
  hone_status status = HONE_OK;
  uint64_t start = clock_ns();
  for (size_t i = 0; i < run->options->level_count && !status; i++)
    status = emit_level(run, &levels[i], prefix);
  if (!status)
    status =
        emit_header_text(run->ctx, run->arena, levels[0].plan, prefix, run->scales, &all.header);
  if (!status) status = join(run, levels, prefix, &all);
  run->report->emit_ms = (double)(clock_ns() - start) / 1e6;
  for (size_t i = 0; i < all.unit_count; i++) run->report->c_bytes += all.units[i].source.length;
  bool stops = run->options->stop_after && !strcmp(run->options->stop_after, "emit");
  if (!status && !stops) status = build_artifact(run, &all, path);
  /* the others belong to the levels */
  if (all.unit_count) strbuf_deinit(&all.units[all.unit_count - 1].source);
  strbuf_deinit(&all.header);
  for (size_t i = 0; i < run->options->level_count; i++) emitted_deinit(&levels[i].emitted);
  return status;
}

hone_status compile_levels(struct run *run, const struct graph *graph, const char *path) {
  struct level *levels;
  if (run->options->profile)
    return fail(run->ctx, HONE_E_USAGE, place_name("--cpu"),
                "only one level can be profiled at a time");
  TRY(NEW_ARRAY(run->ctx, run->arena, levels, TARGET_LEVELS_MAX));
  TRY(make_plans(run, graph, levels));
  if (run->options->stop_after && !strcmp(run->options->stop_after, "plan")) return HONE_OK;
  return emit_levels(run, levels, path);
}
