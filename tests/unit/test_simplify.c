/* Simplification of fused programs: the remaining operations, and that no operation is removed
 * whose result is read elsewhere. tests/compile/quantised-branches.hg compares results. */
#include "graph_case.h"
#include "compiler/plan/builder.h"

enum {
  MOST = 12,
  RAW = PROGRAM_RAW,
  ZERO = PROGRAM_INPUT(0),
  HALF = PROGRAM_INPUT(1),
  SMALL = PROGRAM_INPUT(2),
  LARGE = PROGRAM_INPUT(3),
  LEAST = PROGRAM_INPUT(4),
  MOST_ = PROGRAM_INPUT(5),
  SHIFTS = PROGRAM_INPUT(6)
};
static const struct number_range inputs[] = {{131, 131},   {0.5, 0.5}, {-0.25, 0.25}, {-2, 2},
                                             {-131, -131}, {124, 124}, {1, 8}};

static const struct {
  const char *what;
  struct operation at[MOST];
  int result;
  const char *left;
  hone_dtype raw; /* HONE_UNDEFINED: f32, of a loop; else of a kernel that stores the result */
} cases[] = {
    {"a round trip by way of bytes, with a zero point",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {0, ZERO}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {1}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {2}, .dtype = HONE_U8},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_F32},
      {.op = &op_table[OP_Sub], .arg_count = 2, .args = {4, ZERO}, .dtype = HONE_F32}},
     5,
     "RoundSteps(r) Clip(0)[-131,124] -> 1", /* 0 for NaN and for -0, as by way of bytes */
     HONE_UNDEFINED},
    {"a round trip of what another reads before: it stays, for NaN and -0",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {0}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {1}, .dtype = HONE_U8},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {2}, .dtype = HONE_F32},
      {.op = &op_table[OP_Mul], .arg_count = 2, .args = {3, 0}, .dtype = HONE_F32}},
     4,
     "Round(r) Clip(0)[0,255] Cast(1) Cast(2) Mul(3,0) -> 4",
     HONE_UNDEFINED},
    {"of sums of integers nothing is NaN, and bytes have no -0",
     {{.op = &op_table[OP_Cast], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_RoundSteps], .arg_count = 1, .args = {0}, .dtype = HONE_F32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {1, HALF}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {2}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Cast(r) Round(0) Add(1,i1) Clip(2)[0,255] Cast(3) -> 4",
     HONE_I32},
    {"a divisor shows the sign of 0",
     {{.op = &op_table[OP_Cast], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_RoundSteps], .arg_count = 1, .args = {0}, .dtype = HONE_F32},
      {.op = &op_table[OP_Div], .arg_count = 2, .args = {HALF, 1}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {2}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Cast(r) RoundSteps(0) Div(i1,1) Clip(2)[0,255] Cast(3) -> 4",
     HONE_I32},
    {"the bytes are the result too",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {0}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {1}, .dtype = HONE_U8},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {2}, .dtype = HONE_F32},
      {.op = &op_table[OP_Mul], .arg_count = 2, .args = {3, HALF}, .dtype = HONE_F32}},
     2,
     "Clip(r)[0,255] Cast(0)~ -> 1",
     HONE_UNDEFINED},
    {"a fraction that a byte cuts off stays cut off",
     {{.op = &op_table[OP_Mul], .arg_count = 2, .args = {RAW, HALF}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {0}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {1}, .dtype = HONE_U8},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {2}, .dtype = HONE_F32}},
     3,
     "Mul(r,i1) Clip(0)[0,255] Cast(1) Cast(2) -> 3",
     HONE_UNDEFINED},
    {"an offset that is no whole number",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {0, HALF}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {1}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Sub], .arg_count = 2, .args = {2, HALF}, .dtype = HONE_F32}},
     3,
     "Round(r) Add(0,i1) Clip(1)[0,255] Sub(2,i1) -> 3",
     HONE_UNDEFINED},
    {"bounds beyond the byte's: it wraps",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {0}, .beta = 256, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {1}, .dtype = HONE_U8},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {2}, .dtype = HONE_F32}},
     3,
     "Clip(r)[0,256] Cast(0)~ Cast(1) -> 2",
     HONE_UNDEFINED},
    {"what is rounded is read elsewhere",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {0}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {1, 0}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {2}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Round(r) Clip(0)[0,255] Add(1,0) Clip(2)[0,255] Cast(3) -> 4",
     HONE_UNDEFINED},
    {"bounds with a fraction",
     {{.op = &op_table[OP_Round], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {0}, .beta = 200.5, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {1}, .dtype = HONE_U8}},
     2,
     "Round(r) Clip(0)[0,200.5] Cast(1) -> 2",
     HONE_UNDEFINED},
    {"a store keeps the bounds",
     {{.op = &op_table[OP_Cast], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Mul], .arg_count = 2, .args = {0, SMALL}, .dtype = HONE_F32},
      {.op = &op_table[OP_Round], .arg_count = 1, .args = {1}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {2}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Cast(r) Mul(0,i2) Cast(1)~! -> 2",
     HONE_I32},
    {"and a zero point is added to an integer",
     {{.op = &op_table[OP_Cast], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Mul], .arg_count = 2, .args = {0, SMALL}, .dtype = HONE_F32},
      {.op = &op_table[OP_Round], .arg_count = 1, .args = {1}, .dtype = HONE_F32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {2, ZERO}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {3}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {4}, .dtype = HONE_U8}},
     5,
     "Cast(r) Mul(0,i2) Cast(1)~ Cast(i0) Add(2,3) Cast(4)! -> 5",
     HONE_I32},
    {"what int32 does not hold is clipped first",
     {{.op = &op_table[OP_Cast], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Mul], .arg_count = 2, .args = {0, LARGE}, .dtype = HONE_F32},
      {.op = &op_table[OP_Round], .arg_count = 1, .args = {1}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {2}, .beta = 255, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Cast(r) Mul(0,i3) Clip(1)[0,255] Cast(2)~ -> 3",
     HONE_I32},
    {"bounds of no byte stay",
     {{.op = &op_table[OP_Cast], .arg_count = 1, .args = {RAW}, .dtype = HONE_F32},
      {.op = &op_table[OP_Mul], .arg_count = 2, .args = {0, SMALL}, .dtype = HONE_F32},
      {.op = &op_table[OP_Round], .arg_count = 1, .args = {1}, .dtype = HONE_F32},
      {.op = &op_table[OP_Clip], .arg_count = 1, .args = {2}, .beta = 200, .dtype = HONE_F32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Cast(r) Mul(0,i2) Clip(1)[0,200] Cast(2)~ -> 3",
     HONE_I32},
    {"bounds of integers",
     {{.op = &op_table[OP_Rescale], .arg_count = 3, .args = {RAW, ZERO, SHIFTS}, .dtype = HONE_I32},
      {.op = &op_table[OP_Max], .arg_count = 2, .args = {0, LEAST}, .dtype = HONE_I32},
      {.op = &op_table[OP_Min], .arg_count = 2, .args = {1, MOST_}, .dtype = HONE_I32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {2, ZERO}, .dtype = HONE_I32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {3}, .dtype = HONE_U8}},
     4,
     "Rescale(r,i0,i6) Add(0,i0) Cast(1)! -> 2",
     HONE_I32},
    {"a sum that may wrap keeps them",
     {{.op = &op_table[OP_Max], .arg_count = 2, .args = {RAW, LEAST}, .dtype = HONE_I32},
      {.op = &op_table[OP_Min], .arg_count = 2, .args = {0, MOST_}, .dtype = HONE_I32},
      {.op = &op_table[OP_Add], .arg_count = 2, .args = {1, ZERO}, .dtype = HONE_I32},
      {.op = &op_table[OP_Cast], .arg_count = 1, .args = {2}, .dtype = HONE_U8}},
     3,
     "Max(r,i4) Min(0,i5) Add(1,i0) Cast(2) -> 3",
     HONE_I32},
};

static int print_argument(char *out, size_t size, int arg) {
  return arg == RAW ? snprintf(out, size, "r")
         : arg >= 0 ? snprintf(out, size, "%d", arg)
                    : snprintf(out, size, "i%d", PROGRAM_INPUT_INDEX(arg));
}

static void print(char *out, size_t size, const struct expr *p) {
  size_t n = 0;
  for (size_t i = 0; i < p->count; i++) {
    const struct operation *o = &p->at[i];
    n += (size_t)snprintf(out + n, size - n, "%s(", o->op->name);
    for (int k = 0; k < o->arg_count; k++) {
      n += (size_t)snprintf(out + n, size - n, "%s", k ? "," : "");
      n += (size_t)print_argument(out + n, size - n, o->args[k]);
    }
    n += (size_t)snprintf(out + n, size - n, ")%s%s", o->is_rounding ? "~" : "",
                          o->is_saturating ? "!" : "");
    if (o->op->id == OP_Clip)
      n += (size_t)snprintf(out + n, size - n, "[%g,%g]", o->alpha, o->beta);
    n += (size_t)snprintf(out + n, size - n, " ");
  }
  n += (size_t)snprintf(out + n, size - n, "-> ");
  print_argument(out + n, size - n, p->result);
}

static void programs(void **state) {
  struct fixture *f = *state;
  struct builder b = {.ctx = &f->ctx, .arena = f->arena};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct operation at[MOST];
    hone_dtype types[COUNT(inputs)] = {HONE_UNDEFINED}; /* nothing asks */
    const hone_dtype raw = cases[i].raw;
    char left[512];
    memcpy(at, cases[i].at, sizeof at);
    struct expr p = {.input_count = COUNT(inputs),
                     .inputs = types,
                     .raw = raw ? raw : HONE_F32,
                     .at = at,
                     .result = cases[i].result};
    while (p.count < MOST && at[p.count].op) p.count++;
    assert_int_equal(simplify_program(&b, &p, inputs, raw != HONE_UNDEFINED), HONE_OK);
    print(left, sizeof left, &p);
    if (strcmp(left, cases[i].left)) print_error("%s:\n", cases[i].what);
    assert_string_equal(left, cases[i].left);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(programs, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
