/* Programs in fewer operations with the same results, bit for bit: what quantised models say between two products, to
 * bytes and back, needs no bytes while the value stays in a register. */
#include "builder.h"

#include <math.h>

struct simplifier {
  struct program *p;
  const double *scalars; /* by input: its one constant number, else NaN */
  int *uses;             /* by operation: by what leads to the result, and as the result */
  bool *whole;           /* by operation: a float without a fraction */
};

static bool is_whole_number(double x) { return x == nearbyint(x) && fabs(x) <= 0x1p16; }

static bool is_whole(const struct simplifier *s, int arg) {
  if (arg >= 0) return s->whole[arg];
  return arg != PROGRAM_RAW && is_whole_number(s->scalars[PROGRAM_INPUT_INDEX(arg)]);
}

/* Sums of whole floats are whole, as rounding leaves no fraction where it rounds. */
static void look(struct simplifier *s) {
  const struct program *p = s->p;
  memset(s->uses, 0, p->count * sizeof *s->uses);
  if (p->result >= 0) s->uses[p->result]++;
  for (size_t i = p->count; i-- > 0;) /* readers lie behind */
    for (int k = 0; s->uses[i] && k < p->at[i].arg_count; k++)
      if (p->at[i].args[k] >= 0) s->uses[p->at[i].args[k]]++;
  for (size_t i = 0; i < p->count; i++) {
    const struct operation *o = &p->at[i];
    const enum op_id id = o->op->id;
    bool whole = o->dtype == HONE_F32;
    for (int k = 0; k < o->arg_count; k++) whole &= is_whole(s, o->args[k]);
    const bool keeps = id == OP_Add || id == OP_Sub ||
                       (id == OP_Clip && !o->alpha_input && !o->beta_input &&
                        is_whole_number(o->alpha) && is_whole_number(o->beta));
    s->whole[i] = (id == OP_Round && o->dtype == HONE_F32) || (keeps && whole);
  }
}

static void replace(struct simplifier *s, int old, int new) {
  struct program *p = s->p;
  for (size_t i = 0; i < p->count; i++)
    for (int k = 0; k < p->at[i].arg_count; k++)
      if (p->at[i].args[k] == old) p->at[i].args[k] = new;
  if (p->result == old) p->result = new;
  look(s);
}

static struct operation *operation_at(const struct simplifier *s, int arg, enum op_id id) {
  return arg >= 0 && s->p->at[arg].op->id == id ? &s->p->at[arg] : NULL;
}

/* A whole float between the bounds of a byte becomes one and a float again. */
static void drop_round_trip(struct simplifier *s, int at) {
  const struct operation *back = operation_at(s, at, OP_Cast);
  if (!back || back->dtype != HONE_F32) return;
  const struct operation *byte = operation_at(s, back->args[0], OP_Cast);
  if (!byte || !dtype_is_byte(byte->dtype)) return;
  const struct operation *clip = operation_at(s, byte->args[0], OP_Clip);
  if (clip && s->whole[byte->args[0]] && is_clip_to(byte->dtype, OP_Clip, clip->alpha, clip->beta))
    replace(s, at, byte->args[0]);
}

/* clip(x + z, low, high) - z is clip(x, low - z, high - z) for whole numbers: a sum that is not exact lies beyond the bounds. */
static void drop_zero_point(struct simplifier *s, int at) {
  const struct operation *off = operation_at(s, at, OP_Sub);
  if (!off || off->dtype != HONE_F32 || off->args[1] >= PROGRAM_RAW || !is_whole(s, off->args[1]))
    return;
  struct operation *clip = operation_at(s, off->args[0], OP_Clip);
  if (!clip || !s->whole[off->args[0]] || s->uses[off->args[0]] != 1) return;
  const struct operation *sum = operation_at(s, clip->args[0], OP_Add);
  if (!sum || s->uses[clip->args[0]] != 1) return;
  const int k = sum->args[1] == off->args[1];
  if (sum->args[!k ? 0 : 1] != off->args[1] || !is_whole(s, sum->args[!k])) return;
  const double zero = s->scalars[PROGRAM_INPUT_INDEX(off->args[1])];
  clip->args[0] = sum->args[!k];
  clip->alpha -= zero;
  clip->beta -= zero;
  replace(s, at, off->args[0]);
}

/* Rounded, then clipped to whole numbers, then an integer: the conversion rounds. */
static void round_by_cast(struct simplifier *s, int at) {
  struct operation *cast = operation_at(s, at, OP_Cast);
  if (!cast || !dtype_is_byte(cast->dtype)) return;
  struct operation *clip = operation_at(s, cast->args[0], OP_Clip);
  if (!clip || !s->whole[cast->args[0]] || s->uses[cast->args[0]] != 1) return;
  const struct operation *round = operation_at(s, clip->args[0], OP_Round);
  if (!round || s->uses[clip->args[0]] != 1) return;
  clip->args[0] = round->args[0];
  cast->is_rounding = true;
  look(s);
}

static void drop_unused(struct simplifier *s, int *places) {
  struct program *p = s->p;
  size_t kept = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (!s->uses[i]) continue;
    struct operation o = p->at[i];
    for (int k = 0; k < o.arg_count; k++)
      if (o.args[k] >= 0) o.args[k] = places[o.args[k]];
    places[i] = (int)kept;
    p->at[kept++] = o;
  }
  if (p->result >= 0) p->result = places[p->result];
  p->count = kept;
}

hone_status simplify_program(struct builder *b, struct program *p, const double *scalars) {
  struct simplifier s = {.p = p, .scalars = scalars};
  int *places;
  if (!p->count) return HONE_OK;
  TRY(NEW_ARRAY(b->ctx, b->arena, s.uses, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.whole, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, places, p->count));
  look(&s);
  for (int i = 0; i < (int)p->count; i++) {
    if (s.uses[i]) drop_round_trip(&s, i);
    if (s.uses[i]) drop_zero_point(&s, i);
  }
  for (int i = 0; i < (int)p->count; i++)
    if (s.uses[i]) round_by_cast(&s, i);
  drop_unused(&s, places);
  return HONE_OK;
}
