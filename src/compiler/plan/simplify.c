/* Rewrites programs to fewer operations with bit-identical results. For example, a quantised model
 * converts to int8 and back between two contractions; while the value stays in a register, neither
 * conversion is needed.
 */
#include "builder.h"

#include <math.h>

struct simplifier {
  struct expr *p;
  const struct number_range *inputs;
  /* by operation: uses by operations that lead to the result, and as the result */
  int *uses;
  bool *whole;                 /* by operation: a float that is always a whole number */
  bool *number;                /* by operation: never NaN */
  bool *clean;                 /* by operation: never NaN nor -0, like an integer */
  struct number_range *ranges; /* by operation: range of its values, except for rounding */
};

static const struct number_range anything = {-INFINITY, INFINITY};

static bool is_whole_number(double x) { return x == nearbyint(x) && fabs(x) <= 0x1p16; }

/* The value of an input that is a single constant number, else NaN. */
static double scalar_of(const struct simplifier *s, int arg) {
  if (arg >= PROGRAM_RAW) return NAN;
  const struct number_range *range = &s->inputs[PROGRAM_INPUT_INDEX(arg)];
  return range->low == range->high ? range->low : NAN;
}

static bool is_whole(const struct simplifier *s, int arg) {
  if (arg >= 0) return s->whole[arg];
  return arg != PROGRAM_RAW && is_whole_number(scalar_of(s, arg));
}

/* -- ranges */

struct number_range type_range(hone_dtype dtype) {
  switch (dtype) {
    case HONE_U8:
      return (struct number_range){0, 255};
    case HONE_I8:
      return (struct number_range){-128, 127};
    case HONE_I32:
      return (struct number_range){-0x1p31, 0x1p31 - 1};
    default:
      return anything;
  }
}

static bool is_within(struct number_range x, struct number_range bounds) {
  return x.low >= bounds.low && x.high <= bounds.high;
}

/* Within int32 with room for rounding: such a float converts exactly to an integer. */
static bool is_moderate(struct number_range x) {
  return is_within(x, (struct number_range){-0x1p30, 0x1p30});
}

static struct number_range range_of(const struct simplifier *s, int arg) {
  return arg == PROGRAM_RAW ? type_range(s->p->raw)
         : arg >= 0         ? s->ranges[arg]
                            : s->inputs[PROGRAM_INPUT_INDEX(arg)];
}

static struct number_range clamped(struct number_range x, double low, double high) {
  return (struct number_range){fmin(fmax(x.low, low), high), fmin(fmax(x.high, low), high)};
}

static struct number_range product_range(struct number_range x, struct number_range y) {
  const double a = x.low * y.low, b = x.low * y.high, c = x.high * y.low, d = x.high * y.high;
  if (isnan(a + b + c + d)) return anything; /* of infinities */
  return (struct number_range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}

/* The range after a right shift with rounding. */
static struct number_range shifted(struct number_range x, struct number_range bits) {
  const double factor = bits.low >= 0 && bits.low < 64 ? ldexp(1, -(int)bits.low) : 1;
  return (struct number_range){floor(fmin(x.low, 0) * factor) - 1,
                               ceil(fmax(x.high, 0) * factor) + 1};
}

/* args: the ranges of its arguments. */
static struct number_range own_range(const struct operation *o, const struct number_range *args) {
  const struct number_range x = args[0], y = args[1];
  switch (o->op->id) {
    case OP_Add:
      return (struct number_range){x.low + y.low, x.high + y.high};
    case OP_Sub:
      return (struct number_range){x.low - y.high, x.high - y.low};
    case OP_Mul:
      return product_range(x, y);
    case OP_Relu:
      return clamped(x, 0, INFINITY);
    case OP_Clip:
      return o->alpha_input || o->beta_input ? anything : clamped(x, o->alpha, o->beta);
    case OP_Round:
    case OP_RoundSteps:
      return (struct number_range){floor(x.low), ceil(x.high)};
    case OP_Cast:
      return x;
    case OP_HardSigmoid:
    case OP_Sigmoid:
      return (struct number_range){0, 1};
    case OP_HardSwish: /* its minimum is -0.375 */
      return (struct number_range){-0.5, fmax(x.high, 0)};
    case OP_ShiftRight:
      return shifted(x, y);
    case OP_Rescale:
    case OP_RescaleUp: /* by a multiplier below 1, and a shift */
      return shifted(x, args[2]);
    default:
      return anything;
  }
}

static struct number_range find_range(const struct simplifier *s, const struct operation *o) {
  struct number_range args[] = {anything, anything, anything};
  for (int k = 0; k < o->arg_count; k++) args[k] = range_of(s, o->args[k]);
  const struct number_range range = own_range(o, args), type = type_range(o->dtype);
  if (isnan(range.low) || isnan(range.high)) return type;
  return is_within(range, type) ? range : type; /* integers wrap around */
}

static bool is_bounded(struct number_range x) { return isfinite(x.low) && isfinite(x.high); }

static bool is_number(const struct simplifier *s, int arg) {
  return arg >= 0 ? s->number[arg] : is_bounded(range_of(s, arg)); /* NaN is outside every bound */
}

static bool gives_number(const struct simplifier *s, const struct operation *o,
                         struct number_range range) {
  bool numbers = true;
  if (!dtype_is_float(o->dtype) || o->op->id == OP_RoundSteps) return true;
  for (int k = 0; k < o->arg_count; k++) numbers &= is_number(s, o->args[k]);
  switch (o->op->id) {
    case OP_Add:
    case OP_Sub: /* infinities may cancel */
      return numbers &&
             (is_bounded(range_of(s, o->args[0])) || is_bounded(range_of(s, o->args[1])));
    case OP_Mul:
      return numbers && is_bounded(range);
    case OP_Cast:
    case OP_Clip:
    case OP_Relu:
    case OP_Round:
      return numbers && !o->alpha_input && !o->beta_input;
    case OP_HardSigmoid:
    case OP_HardSwish: /* infinity times 0 is NaN */
    case OP_Sigmoid:
      return numbers && is_bounded(range_of(s, o->args[0]));
    default:
      return false;
  }
}

static bool is_clean(const struct simplifier *s, int arg) {
  if (arg >= 0) return s->clean[arg];
  const double x = scalar_of(s, arg);
  return !isnan(x) && !(x == 0 && signbit(x));
}

/* A sum is -0 only if both terms are. */
static bool stays_clean(const struct simplifier *s, const struct operation *o) {
  switch (o->op->id) {
    case OP_RoundSteps:
      return true;
    case OP_Add:
      return is_clean(s, o->args[0]) || is_clean(s, o->args[1]);
    case OP_Cast:
    case OP_Clip:
    case OP_Sub:
      return is_clean(s, o->args[0]);
    default:
      return false;
  }
}

/* -- facts about all operations */

/* Sums of whole floats are whole, because a float too large to be exact has no fraction. */
static void analyse(struct simplifier *s) {
  const struct expr *p = s->p;
  memset(s->uses, 0, p->count * sizeof *s->uses);
  if (p->result >= 0) s->uses[p->result]++;
  for (size_t i = p->count; i-- > 0;) /* readers come later */
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
    s->whole[i] =
        ((id == OP_Round || id == OP_RoundSteps) && o->dtype == HONE_F32) || (keeps && whole);
    s->ranges[i] = find_range(s, o);
    s->number[i] = gives_number(s, o, s->ranges[i]);
    s->clean[i] = !dtype_is_float(o->dtype) || (s->number[i] && stays_clean(s, o));
  }
}

static void replace(struct simplifier *s, int old, int new) {
  struct expr *p = s->p;
  for (size_t i = 0; i < p->count; i++)
    for (int k = 0; k < p->at[i].arg_count; k++)
      if (p->at[i].args[k] == old) p->at[i].args[k] = new;
  if (p->result == old) p->result = new;
  analyse(s);
}

static struct operation *operation_at(const struct simplifier *s, int arg, enum op_id id) {
  return arg >= 0 && s->p->at[arg].op->id == id ? &s->p->at[arg] : NULL;
}

/* True if a float equals an integer, or can be rewritten so where it is rounded: `clip` of a
   rounded value, with or without a zero point. */
static bool make_whole(struct simplifier *s, int clip) {
  if (is_clean(s, clip)) return true;
  int at = s->p->at[clip].args[0];
  const struct operation *sum = operation_at(s, at, OP_Add);
  if (s->uses[clip] != 1 || at < 0 || s->uses[at] != 1) return false;
  if (sum) at = sum->args[sum->args[0] < PROGRAM_RAW];
  struct operation *round = operation_at(s, at, OP_Round);
  if (!round || s->uses[at] != 1) return false;
  round->op = &op_table[OP_RoundSteps];
  analyse(s);
  return is_clean(s, clip);
}

/* A whole float within the bounds of int8, converted to int8 and back: drops both conversions. */
static void drop_round_trip(struct simplifier *s, int at) {
  const struct operation *back = operation_at(s, at, OP_Cast);
  if (!back || back->dtype != HONE_F32) return;
  const struct operation *byte = operation_at(s, back->args[0], OP_Cast);
  if (!byte || !dtype_is_byte(byte->dtype)) return;
  const struct operation *clip = operation_at(s, byte->args[0], OP_Clip);
  if (clip && s->whole[byte->args[0]] &&
      is_clip_to(byte->dtype, OP_Clip, clip->alpha, clip->beta) && make_whole(s, byte->args[0]))
    replace(s, at, byte->args[0]);
}

/* clip(x + z, low, high) - z equals clip(x, low - z, high - z) for whole numbers: a sum that is
   not exact is outside the bounds. */
static void drop_zero_point(struct simplifier *s, int at) {
  const struct operation *off = operation_at(s, at, OP_Sub);
  if (!off || off->dtype != HONE_F32 || off->args[1] >= PROGRAM_RAW || !is_whole(s, off->args[1]))
    return;
  struct operation *clip = operation_at(s, off->args[0], OP_Clip);
  if (!clip || !s->whole[off->args[0]] || s->uses[off->args[0]] != 1) return;
  const struct operation *sum = operation_at(s, clip->args[0], OP_Add);
  if (!sum || s->uses[clip->args[0]] != 1) return;
  const int k = sum->args[1] == off->args[1];
  if (sum->args[!k ? 0 : 1] != off->args[1] || !is_whole(s, sum->args[!k]) ||
      !is_clean(s, sum->args[!k]))
    return;
  const double zero = scalar_of(s, off->args[1]);
  clip->args[0] = sum->args[!k];
  clip->alpha -= zero;
  clip->beta -= zero;
  replace(s, at, off->args[0]);
}

/* Where 0 and -0 differ: as a divisor, and in a stored float. */
static bool shows_sign(const struct operation *o, int k) {
  const enum op_id id = o->op->id;
  return (id == OP_Div && k) || id == OP_Reciprocal || id == OP_Pow;
}

/* RoundSteps becomes Round if the value is never NaN and no reader sees the sign of 0. */
static void round_plainly(struct simplifier *s, bool *seen) {
  struct expr *p = s->p;
  memset(seen, 0, p->count * sizeof *seen);
  if (p->result >= 0) seen[p->result] = dtype_is_float(p->at[p->result].dtype);
  for (size_t i = p->count; i-- > 0;) { /* readers come later */
    struct operation *o = &p->at[i];
    if (!s->uses[i]) continue;
    /* an operation without -0 results hides the sign */
    const bool passes_on = seen[i] && dtype_is_float(o->dtype) && o->op->id != OP_RoundSteps;
    if (o->op->id == OP_RoundSteps && !seen[i] && is_number(s, o->args[0]))
      o->op = &op_table[OP_Round];
    for (int k = 0; k < o->arg_count; k++)
      if (o->args[k] >= 0) seen[o->args[k]] |= passes_on || shows_sign(o, k);
  }
}

/* Rounded, then clipped to whole numbers, then converted to an integer: the conversion rounds. */
static void round_by_cast(struct simplifier *s, int at) {
  struct operation *cast = operation_at(s, at, OP_Cast);
  if (!cast || !dtype_is_byte(cast->dtype)) return;
  struct operation *clip = operation_at(s, cast->args[0], OP_Clip);
  if (!clip || !s->whole[cast->args[0]] || s->uses[cast->args[0]] != 1) return;
  const struct operation *round = operation_at(s, clip->args[0], OP_Round);
  if (!round || s->uses[clip->args[0]] != 1) return;
  clip->args[0] = round->args[0];
  cast->is_rounding = true;
  analyse(s);
}

/* Rounded, a zero point added, clipped to the bounds of int8: the conversion rounds, and a
   kernel's store clips integers itself. The float must fit int32. */
static void add_after_rounding(struct simplifier *s, struct operation *cast) {
  struct operation *clip = operation_at(s, cast->args[0], OP_Clip), *sum, *round;
  if (!clip || s->uses[cast->args[0]] != 1) return;
  sum = operation_at(s, clip->args[0], OP_Add);
  if (!sum || sum->dtype != HONE_F32 || s->uses[clip->args[0]] != 1) return;
  const int k = sum->args[0] < PROGRAM_RAW, zero = sum->args[!k], rounded = sum->args[k];
  round = operation_at(s, rounded, OP_Round);
  if (!round || zero >= PROGRAM_RAW || !is_whole(s, zero) || s->uses[rounded] != 1 ||
      !is_number(s, rounded) || !is_moderate(s->ranges[rounded]))
    return;
  const int from = round->args[0], sum_at = clip->args[0];
  *clip = *sum;
  clip->dtype = HONE_I32;
  clip->args[0] = rounded;
  clip->args[1] = sum_at;
  *round = *sum = (struct operation){.op = &op_table[OP_Cast], .arg_count = 1, .dtype = HONE_I32};
  round->args[0] = from;
  round->is_rounding = true;
  sum->args[0] = zero;
  cast->is_saturating = true;
  analyse(s);
}

/* Clipped to the bounds of int8, then rounded by the cast: drops the clip. */
static void drop_clip(struct simplifier *s, struct operation *cast) {
  const struct operation *clip = operation_at(s, cast->args[0], OP_Clip);
  if (!clip || !cast->is_rounding || !is_number(s, clip->args[0]) ||
      !is_moderate(range_of(s, clip->args[0])))
    return;
  cast->args[0] = clip->args[0];
  cast->is_saturating = true;
  analyse(s);
}

/* Int32 within the bounds of int8, except for a zero point: drops the clip. */
static void drop_integer_bounds(struct simplifier *s, struct operation *cast,
                                struct number_range bounds) {
  struct operation *sum = operation_at(s, cast->args[0], OP_Add);
  const double zero = sum ? scalar_of(s, sum->args[1]) : 0;
  int *const from = sum ? &sum->args[0] : &cast->args[0];
  const struct operation *most = operation_at(s, *from, OP_Min);
  const struct operation *least = most ? operation_at(s, most->args[0], OP_Max) : NULL;
  if (!least || (sum && s->uses[cast->args[0]] != 1) || least->dtype != HONE_I32 ||
      scalar_of(s, least->args[1]) + zero != bounds.low ||
      scalar_of(s, most->args[1]) + zero != bounds.high)
    return;
  const struct number_range x = range_of(s, least->args[0]);
  if (!is_within((struct number_range){x.low + zero, x.high + zero}, type_range(HONE_I32))) return;
  *from = least->args[0];
  cast->is_saturating = true;
  analyse(s);
}

/* The result of a program whose int8 values a kernel stores. */
static void saturate(struct simplifier *s) {
  struct operation *cast = operation_at(s, s->p->result, OP_Cast);
  if (!cast || !dtype_is_byte(cast->dtype)) return;
  const struct number_range bounds = type_range(cast->dtype);
  const struct operation *clip = operation_at(s, cast->args[0], OP_Clip);
  drop_integer_bounds(s, cast, bounds);
  if (!clip || clip->dtype != HONE_F32 || clip->alpha_input || clip->beta_input ||
      clip->alpha != bounds.low || clip->beta != bounds.high)
    return;
  add_after_rounding(s, cast);
  drop_clip(s, cast);
}

static void drop_unused(struct simplifier *s, int *places) {
  struct expr *p = s->p;
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

hone_status simplify_program(struct builder *b, struct expr *p, const struct number_range *inputs,
                             bool is_epilogue) {
  struct simplifier s = {.p = p, .inputs = inputs};
  int *places;
  bool *seen;
  if (!p->count) return HONE_OK;
  TRY(NEW_ARRAY(b->ctx, b->arena, s.uses, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.whole, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.number, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.clean, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, s.ranges, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, seen, p->count));
  TRY(NEW_ARRAY(b->ctx, b->arena, places, p->count));
  analyse(&s);
  for (int i = 0; i < (int)p->count; i++) {
    if (s.uses[i]) drop_round_trip(&s, i);
    if (s.uses[i]) drop_zero_point(&s, i);
  }
  round_plainly(&s, seen);
  for (int i = 0; i < (int)p->count; i++)
    if (s.uses[i]) round_by_cast(&s, i);
  if (is_epilogue) saturate(&s);
  drop_unused(&s, places);
  return HONE_OK;
}
