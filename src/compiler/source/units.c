/* Distributes the functions that steps call over translation units that are compiled at the same
 * time. The distribution depends only on the functions' order and weight, not on the compiling
 * machine: same plan, same units, same bytes. The steps themselves are the last unit.
 */
#include "source_internal.h"

#include <stdlib.h>

/* A unit costs the compiler a start and the common head, about 30 ms; this much source of its
   kind takes 300 ms. */
enum { MOST_UNITS = 8 };
static const size_t unit_weight[UNIT_CALLS] = {
    [UNIT_VECTORS] = 96 << 10, [UNIT_TILES] = 144 << 10, [UNIT_LOOPS] = 96 << 10};

static size_t unit_count(const struct emitter *e, enum unit_kind kind) {
  size_t weight = 0;
  for (size_t i = 0; i < e->functions.count; i++)
    if (e->functions.at[i].kind == kind) weight += e->functions.at[i].weight;
  size_t count = (weight + unit_weight[kind] - 1) / unit_weight[kind];
  return count < MOST_UNITS ? count : MOST_UNITS;
}

/* The function's source without code that is not compiled or not used. */
static hone_status emit_body(const struct emitter *e, const struct function *f, struct arena *arena,
                             struct comments_seen *seen, struct strbuf *live, struct strbuf *out) {
  struct macros macros = {.outer = &e->head.macros};
  struct pruner *pieces;
  TRY(preprocess(e->ctx, arena, &macros, f->body, f->length, live));
  for (size_t i = 0; i < macros.all.count; i++)
    strbuf_printf(live, "#undef %.*s\n", (int)macros.all.at[i].name.length,
                  macros.all.at[i].name.at);
  TRY(strbuf_finish(e->ctx, live));
  TRY(pruner_make(e->ctx, arena, &pieces));
  TRY(pruner_parse(pieces, live->at, live->length));
  pruner_keep_used(pieces, "NAME", strlen("NAME"));
  return pruner_print(pieces, seen, out);
}

static hone_status emit_function(const struct emitter *e, size_t i, struct comments_seen *seen,
                                 struct strbuf *out) {
  const struct function *f = &e->functions.at[i];
  struct strbuf live = {0};
  struct arena *arena;
  TRY(arena_create(e->ctx, 0, &arena));
  if (f->own) strbuf_printf(out, OWN_SOURCE "%s */\n", f->own);
  strbuf_printf(out, "#define NAME %s_k%zu\nHIDDEN NOIPA %s NAME;\n", e->prefix, i, f->type);
  const hone_status status = emit_body(e, f, arena, seen, &live, out);
  strbuf_puts(out, "#undef NAME\n\n");
  strbuf_deinit(&live);
  arena_destroy(arena);
  return status;
}

void emit_prototypes(const struct emitter *e, struct strbuf *out) {
  for (size_t i = 0; i < e->functions.count; i++)
    strbuf_printf(out, "#define k%zu %s_k%zu\nHIDDEN NOIPA %s k%zu;\n", i, e->prefix, i,
                  e->functions.at[i].type, i);
  strbuf_puts(out, "\n");
}

struct weighed {
  size_t weight, number;
};

static int heaviest_first(const void *a, const void *b) {
  const struct weighed *x = a, *y = b;
  if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* The heaviest remaining function goes to the lightest unit so far (Graham's rule):
   unit_of[number]. */
static void distribute(const struct emitter *e, enum unit_kind kind, struct weighed *order,
                       size_t first, size_t count, size_t *unit_of) {
  size_t load[MOST_UNITS] = {0}, some = 0;
  for (size_t i = 0; i < e->functions.count; i++)
    if (e->functions.at[i].kind == kind)
      order[some++] = (struct weighed){e->functions.at[i].weight, i};
  if (some) qsort(order, some, sizeof *order, heaviest_first);
  for (size_t i = 0; i < some; i++) {
    size_t least = 0;
    for (size_t u = 1; u < count; u++)
      if (load[u] < load[least]) least = u;
    load[least] += order[i].weight;
    unit_of[order[i].number] = first + least;
  }
}

hone_status emit_units(struct emitter *e, struct emitted *out) {
  struct weighed *order;
  struct comments_seen *seen;
  size_t *unit_of, first = 0;
  TRY(NEW_ARRAY(e->ctx, e->arena, order, e->functions.count + 1));
  TRY(NEW_ARRAY(e->ctx, e->arena, unit_of, e->functions.count + 1));
  TRY(NEW_ARRAY(e->ctx, e->arena, out->units, UNIT_CALLS * MOST_UNITS + 1));
  for (enum unit_kind kind = 0; kind < UNIT_CALLS; kind++) {
    const size_t count = unit_count(e, kind);
    distribute(e, kind, order, first, count, unit_of);
    for (size_t u = 0; u < count; u++) out->units[first++].kind = kind;
  }
  out->units[first].kind = UNIT_CALLS;
  out->unit_count = first + 1;
  TRY(NEW_ARRAY(e->ctx, e->arena, seen, out->unit_count));
  for (size_t i = 0; i < out->unit_count; i++)
    seen[i] = (struct comments_seen){.ctx = e->ctx, .arena = e->arena};
  for (size_t i = 0; i < e->functions.count; i++)
    TRY(emit_function(e, i, &seen[unit_of[i]], &out->units[unit_of[i]].source));
  return HONE_OK;
}
