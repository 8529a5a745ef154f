/* Loop nests with literal sizes and strides: their common parts, and elementwise programs. Copies
 * are in copies.c.
 */
#include "source_internal.h"

/* -- common parts */

void emit_strided(struct strbuf *out, const char *index, int64_t stride) {
  strbuf_puts(out, stride ? index : "0");
  if (stride && stride != 1) strbuf_printf(out, " * %lldl", (long long)stride);
}

void emit_rest(struct strbuf *out, int d, int64_t size, const struct slope *slope) {
  strbuf_printf(out, "const long x%d = rest %% ", d);
  emit_size(out, size, slope);
  strbuf_puts(out, ";\nrest /= ");
  emit_size(out, size, slope);
  strbuf_puts(out, ";\n");
}

void emit_outer(struct strbuf *out, const int64_t *size, const struct slope *slope, int outer) {
  if (!outer) return;
  if (outer > 1) strbuf_puts(out, "long rest = u;\n");
  for (int d = outer; d-- > 0;) {
    if (outer == 1)
      strbuf_printf(out, "const long x%d = u;\n", d);
    else if (d)
      emit_rest(out, d, size[d], &slope[d]);
    else
      strbuf_puts(out, "const long x0 = rest;\n");
  }
}

void emit_for(struct strbuf *out, int d, int64_t size, const struct slope *slope) {
  strbuf_printf(out, "for (long x%d = 0; x%d < ", d, d);
  emit_size(out, size, slope);
  strbuf_printf(out, "; x%d++) {\n", d);
}

void begin_loops(struct strbuf *body, const struct step *step) {
  strbuf_printf(body, "void NAME%s {\n",
                is_open_loop(step) ? OPEN_LOOP_PARAMETERS : LOOP_PARAMETERS);
  if (is_open_loop(step)) strbuf_puts(body, "(void)less;\n");
}

hone_status share_loops(struct emitter *e, const struct step *step, const struct strbuf *body,
                        enum unit_kind kind, int *out_number) {
  struct strbuf laid_out = {0};
  emit_code(&laid_out, body);
  const hone_status status = emit_shared(
      e, &laid_out, kind, is_open_loop(step) ? "open_loop_function" : "loop_function", out_number);
  strbuf_deinit(&laid_out);
  return status;
}

/* -- elementwise */

static bool is_vector(const struct step *step, const struct loop_nest *nest) {
  int last = nest->rank - 1;
  if (last < 0 || nest->out_stride[last] != 1 || !program_is_vector(&step->program)) return false;
  if (!vector_form(step->outputs[0].dtype)) return false;
  for (size_t k = 0; k < step->input_count; k++) {
    if (!step->inputs[k].buffer) continue;
    if (!vector_form(step->inputs[k].dtype)) return false;
    if (nest->stride[k][last] != 0 && nest->stride[k][last] != 1) return false;
  }
  return true;
}

static bool is_packed(hone_dtype dtype) { return dtype_bits(dtype) < 8 && dtype != HONE_STRING; }

/* "const float i0 = f16_load_(q0[j * 4l]);" */
static void emit_load(struct strbuf *out, hone_dtype dtype, size_t k, int64_t stride) {
  hone_dtype as = dtype_widened(dtype);
  unsigned bits = dtype_bits(dtype);
  strbuf_printf(out, "const %s i%zu = ", c_type(as), k);
  if (dtype != as && dtype_is_float(dtype)) strbuf_printf(out, "%s_load_(", dtype_name(dtype));
  const bool is_signed = is_packed(dtype) && dtype_is_signed(dtype);
  if (is_signed) strbuf_puts(out, "signed_(");
  strbuf_printf(out, is_packed(dtype) ? "packed_load_(q%zu, " : "q%zu[", k);
  emit_strided(out, "j", stride);
  if (is_packed(dtype))
    strbuf_printf(out, ", %u)", bits);
  else
    strbuf_puts(out, "]");
  if (is_signed) strbuf_printf(out, ", %u)", bits);
  if (dtype != as && dtype_is_float(dtype)) strbuf_puts(out, ")");
  strbuf_puts(out, ";\n");
}

/* The result in the output's type; a Cast defines what happens to values out of range. */
static void emit_store(struct strbuf *out, const struct step *step, const char *result,
                       int64_t stride) {
  hone_dtype dtype = step->outputs[0].dtype;
  struct strbuf stored = {0};
  if (dtype_is_tiny_float(dtype)) {
    strbuf_printf(&stored, "%s_store_(%s, %d, %d)", dtype_name(dtype), result,
                  step->program.saturates, (int)step->program.rounding);
  } else if (dtype_widened(dtype) == HONE_F32 && dtype != HONE_F32) {
    strbuf_printf(&stored, "%s_store_(%s)", dtype_name(dtype), result);
  } else {
    strbuf_puts(&stored, result);
  }
  strbuf_puts(out, is_packed(dtype) ? "packed_store_(o, " : "o[");
  emit_strided(out, "j", stride);
  if (is_packed(dtype))
    strbuf_printf(out, ", %u, (unsigned)%s);\n", dtype_bits(dtype), stored.at ? stored.at : "");
  else
    strbuf_printf(out, "] = %s;\n", stored.at ? stored.at : "");
  if (stored.failed) out->failed = true;
  strbuf_deinit(&stored);
}

/* " + x0 * 64l + x1" for the first dimensions. */
static void emit_index(struct strbuf *out, const int64_t *stride, int count) {
  for (int d = 0; d < count; d++) {
    char x[16];
    if (!stride[d]) continue;
    snprintf(x, sizeof x, "x%d", d);
    strbuf_puts(out, " + ");
    emit_strided(out, x, stride[d]);
  }
}

/* "const vec i0 = load_lanes_(q0 + j, LANES);": all lanes, or `lanes` at the end of a row. */
static void emit_vector_load(struct strbuf *out, hone_dtype dtype, size_t k, int64_t stride,
                             bool tail) {
  const struct vector_form *form = vector_form(dtype);
  strbuf_printf(out, "const %s i%zu = ", form->type, k);
  if (!stride)
    strbuf_printf(out, "%s(*q%zu);\n", form->splat, k);
  else
    strbuf_printf(out, "%s(q%zu + j, %s);\n", form->load, k, tail ? "lanes" : "LANES");
}

static void emit_vector_store(struct strbuf *out, hone_dtype dtype, const char *result, bool tail) {
  strbuf_printf(out, "%s(o + j, %s, %s);\n", vector_form(dtype)->store, result,
                tail ? "lanes" : "LANES");
}

/* Constant bounds and scales are numbers in the program: their operands are not read. */
static bool is_read(const struct step *step, size_t k) {
  const struct expr *program = &step->program;
  const int input = PROGRAM_INPUT((int)k);
  bool found = program->result == input;
  for (size_t s = 0; s < program->count && !found; s++) {
    const struct operation *o = &program->at[s];
    for (int a = 0; a < o->arg_count; a++) found |= o->args[a] == input;
    found |= k && (o->alpha_input == (int)k || o->beta_input == (int)k);
  }
  return found && step->inputs[k].buffer;
}

static hone_status emit_element(struct emitter *e, struct strbuf *out, const struct step *step,
                                const struct loop_nest *nest, bool vector, bool tail) {
  int last = nest->rank - 1;
  char result[32];
  for (size_t k = 0; k < step->input_count; k++) {
    if (!is_read(step, k)) continue;
    int64_t stride = last < 0 ? 0 : nest->stride[k][last];
    if (vector)
      emit_vector_load(out, step->inputs[k].dtype, k, stride, tail);
    else
      emit_load(out, step->inputs[k].dtype, k, stride);
  }
  TRY(emit_program(e, out, &step->program, vector ? PROGRAM_VECTOR : PROGRAM_SCALAR, result));
  if (vector)
    emit_vector_store(out, step->outputs[0].dtype, result, tail);
  else
    emit_store(out, step, result, last < 0 ? 0 : nest->out_stride[last]);
  return HONE_OK;
}

static hone_status emit_row(struct emitter *e, struct strbuf *out, const struct step *step,
                            const struct loop_nest *nest) {
  int last = nest->rank - 1;
  int64_t lanes = e->plan->schedule.target.vector_bytes / 4, n = last < 0 ? 1 : nest->size[last];
  const struct slope slope = last < 0 ? (struct slope){0} : nest->slope[last];
  bool vector = is_vector(step, nest);
  bool tail = !slope_is_zero(&slope) ||
              (nest->inner == 0 ? n % lanes || nest->chunk % lanes : n % lanes != 0);
  bool chunked = nest->inner == 0 && nest->chunk;
  strbuf_puts(out, chunked ? "const long all = " : "const long n = ");
  emit_size(out, n, &slope);
  if (chunked)
    strbuf_printf(out,
                  ";\nlong j = u * %lldl;\nconst long n = j + %lldl < all ? j + %lldl : all;\n",
                  (long long)nest->chunk, (long long)nest->chunk, (long long)nest->chunk);
  else
    strbuf_puts(out, ";\nlong j = 0;\n");
  if (!vector) {
    strbuf_puts(out, "for (; j < n; j++) {\n");
    TRY(emit_element(e, out, step, nest, false, false));
    strbuf_puts(out, "}\n");
    return HONE_OK;
  }
  if (nest->inner == 0 || n >= lanes) {
    strbuf_puts(out, "for (; j + LANES <= n; j += LANES) {\n");
    TRY(emit_element(e, out, step, nest, true, false));
    strbuf_puts(out, "}\n");
  }
  if (!tail) return HONE_OK;
  strbuf_puts(out, "if (j < n) {\nconst long lanes = n - j;\n");
  TRY(emit_element(e, out, step, nest, true, true));
  strbuf_puts(out, "}\n");
  return HONE_OK;
}

hone_status emit_elementwise(struct emitter *e, const struct step *step, int *out_number) {
  struct loop_nest nest;
  struct strbuf body = {0};
  plan_loops(step, &nest);
  const char *type = c_type(step->outputs[0].dtype);
  int outer = nest.rank - nest.inner, middle = nest.rank - 1;
  if (nest.inner == 0) outer = 0;
  begin_loops(&body, step);
  strbuf_puts(&body, "(void)from;\nfor (long u = begin; u < end; u++) {\n");
  emit_outer(&body, nest.size, nest.slope, outer);
  if (nest.inner == 2) emit_for(&body, outer, nest.size[outer], &nest.slope[outer]);
  strbuf_printf(&body, "%s *const o = (%s *)to", type, type);
  emit_index(&body, nest.out_stride, nest.inner ? middle : 0);
  strbuf_puts(&body, ";\n");
  for (size_t k = 0; k < step->input_count; k++) {
    if (!is_read(step, k)) continue;
    const char *in = c_type(step->inputs[k].dtype);
    strbuf_printf(&body, "const %s *const q%zu = (const %s *)from[%zu]", in, k, in, k);
    emit_index(&body, nest.stride[k], nest.inner ? middle : 0);
    strbuf_puts(&body, ";\n");
  }
  hone_status status = emit_row(e, &body, step, &nest);
  if (nest.inner == 2) strbuf_puts(&body, "}\n");
  strbuf_puts(&body, "}\n}\n");
  if (!status) /* code without explicit vectors may be vectorised by the compiler */
    status =
        share_loops(e, step, &body, is_vector(step, &nest) ? UNIT_VECTORS : UNIT_LOOPS, out_number);
  strbuf_deinit(&body);
  return status;
}
