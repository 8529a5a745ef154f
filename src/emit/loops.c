/* Loop nests: elementwise programs and strided copies, with literal sizes and strides. */
#include "emit_internal.h"

/* -- elementwise --------------------------------------------------------------------------------
 */

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
static void emit_load(struct text *out, hone_dtype dtype, size_t k, int64_t stride) {
  hone_dtype as = compute_dtype(dtype);
  unsigned bits = dtype_bits(dtype);
  text_printf(out, "    const %s i%zu = ", c_type(as), k);
  if (dtype != as && dtype_is_float(dtype)) text_printf(out, "%s_load_(", dtype_name(dtype));
  if (dtype == HONE_I4 || dtype == HONE_I2) text_puts(out, "signed_(");
  if (is_packed(dtype))
    text_printf(out, "packed_load_(q%zu, j * %lldl, %u)", k, (long long)stride, bits);
  else
    text_printf(out, "q%zu[j * %lldl]", k, (long long)stride);
  if (dtype == HONE_I4 || dtype == HONE_I2) text_printf(out, ", %u)", bits);
  if (dtype != as && dtype_is_float(dtype)) text_puts(out, ")");
  text_puts(out, ";\n");
}

/* The result as the output stores it; a Cast says what happens to what does not fit. */
static void emit_store(struct text *out, const struct step *step, const char *result,
                       int64_t stride) {
  hone_dtype dtype = step->outputs[0].dtype;
  struct text stored = {0};
  if (dtype_is_tiny_float(dtype)) {
    text_printf(&stored, "%s_store_(%s, %d, %d)", dtype_name(dtype), result,
                step->program.saturates, (int)step->program.rounding);
  } else if (compute_dtype(dtype) == HONE_F32 && dtype != HONE_F32) {
    text_printf(&stored, "%s_store_(%s)", dtype_name(dtype), result);
  } else {
    text_puts(&stored, result);
  }
  if (is_packed(dtype))
    text_printf(out, "    packed_store_(o, j * %lldl, %u, (unsigned)%s);\n", (long long)stride,
                dtype_bits(dtype), stored.at ? stored.at : "");
  else
    text_printf(out, "    o[j * %lldl] = %s;\n", (long long)stride, stored.at ? stored.at : "");
  if (stored.failed) out->failed = true;
  text_deinit(&stored);
}

/* "q + x0*64 + x1*8" for the dimensions [from, to). */
static void emit_index(struct text *out, const int64_t *stride, int from, int to) {
  for (int d = from; d < to; d++)
    if (stride[d]) text_printf(out, " + x%d * %lldl", d, (long long)stride[d]);
}

static void emit_rest(struct text *out, int d, int64_t size, const struct slope *slope) {
  text_printf(out, "    const long x%d = rest %% ", d);
  emit_size(out, size, slope);
  text_puts(out, ";\n    rest /= ");
  emit_size(out, size, slope);
  text_puts(out, ";\n");
}

/* x0.. of the outer dimensions from the unit number u. */
static void emit_outer(struct text *out, const int64_t *size, const struct slope *slope,
                       int outer) {
  if (!outer) return;
  if (outer > 1) text_puts(out, "    long rest = u;\n");
  for (int d = outer; d-- > 0;) {
    if (outer == 1)
      text_printf(out, "    const long x%d = u;\n", d);
    else if (d)
      emit_rest(out, d, size[d], &slope[d]);
    else
      text_puts(out, "    const long x0 = rest;\n");
  }
}

static hone_status emit_element(struct emitter *e, struct text *out, const struct step *step,
                                const struct loop_nest *nest, bool vector, bool tail) {
  int last = nest->rank - 1;
  char result[32];
  const char *lanes = tail ? "lanes" : "LANES";
  for (size_t k = 0; k < step->input_count; k++) {
    if (!step->inputs[k].buffer) continue;
    int64_t stride = last < 0 ? 0 : nest->stride[k][last];
    const struct vector_form *form = vector_form(step->inputs[k].dtype);
    if (vector && !stride)
      text_printf(out, "    const %s i%zu = %s(q%zu[0]);\n", form->type, k, form->splat, k);
    else if (vector)
      text_printf(out, "    const %s i%zu = %s(q%zu + j, %s);\n", form->type, k, form->load, k,
                  lanes);
    else
      emit_load(out, step->inputs[k].dtype, k, stride);
  }
  TRY(emit_program(e, out, &step->program, vector ? PROGRAM_VECTOR : PROGRAM_SCALAR, result));
  if (vector)
    text_printf(out, "    %s(o + j, %s, %s);\n", vector_form(step->outputs[0].dtype)->store, result,
                lanes);
  else
    emit_store(out, step, result, last < 0 ? 0 : nest->out_stride[last]);
  return HONE_OK;
}

static hone_status emit_row(struct emitter *e, struct text *out, const struct step *step,
                            const struct loop_nest *nest) {
  int last = nest->rank - 1;
  int64_t lanes = e->plan->target.vector_bytes / 4, n = last < 0 ? 1 : nest->size[last];
  const struct slope slope = last < 0 ? (struct slope){0} : nest->slope[last];
  bool vector = is_vector(step, nest);
  bool tail = !slope_is_zero(&slope) ||
              (nest->inner == 0 ? n % lanes || nest->chunk % lanes : n % lanes != 0);
  bool chunked = nest->inner == 0 && nest->chunk;
  text_puts(out, chunked ? "    const long all = " : "    const long n = ");
  emit_size(out, n, &slope);
  if (chunked)
    text_printf(
        out, ";\n    long j = u * %lldl;\n    const long n = j + %lldl < all ? j + %lldl : all;\n",
        (long long)nest->chunk, (long long)nest->chunk, (long long)nest->chunk);
  else
    text_puts(out, ";\n    long j = 0;\n");
  if (!vector) {
    text_puts(out, "    for (; j < n; j++) {\n");
    TRY(emit_element(e, out, step, nest, false, false));
    text_puts(out, "    }\n");
    return HONE_OK;
  }
  if (nest->inner == 0 || n >= lanes) {
    text_puts(out, "    for (; j + LANES <= n; j += LANES) {\n");
    TRY(emit_element(e, out, step, nest, true, false));
    text_puts(out, "    }\n");
  }
  if (!tail) return HONE_OK;
  text_puts(out, "    if (j < n) {\n    const long lanes = n - j;\n");
  TRY(emit_element(e, out, step, nest, true, true));
  text_puts(out, "    }\n");
  return HONE_OK;
}

static const char *loop_type(const struct step *step) {
  return is_open_loop(step) ? "open_loop_function" : "loop_function";
}

static void begin_loops(struct text *out, const struct step *step) {
  text_printf(out, "void NAME%s {\n", is_open_loop(step) ? OPEN_LOOP_PARAMETERS : LOOP_PARAMETERS);
  if (is_open_loop(step)) text_puts(out, "  (void)less;\n");
}

static void emit_for(struct text *out, int d, int64_t size, const struct slope *slope) {
  text_printf(out, "    for (long x%d = 0; x%d < ", d, d);
  emit_size(out, size, slope);
  text_printf(out, "; x%d++) {\n", d);
}

hone_status emit_elementwise(struct emitter *e, const struct step *step, int *out_number) {
  struct loop_nest nest;
  struct text body = {0};
  plan_loops(step, &nest);
  const char *type = c_type(step->outputs[0].dtype);
  int outer = nest.rank - nest.inner, middle = nest.rank - 1;
  if (nest.inner == 0) outer = 0;
  begin_loops(&body, step);
  text_puts(&body, "  (void)from;\n  for (long u = begin; u < end; u++) {\n");
  emit_outer(&body, nest.size, nest.slope, outer);
  if (nest.inner == 2) emit_for(&body, outer, nest.size[outer], &nest.slope[outer]);
  text_printf(&body, "    %s *const o = (%s *)to", type, type);
  emit_index(&body, nest.out_stride, 0, nest.inner ? middle : 0);
  text_puts(&body, ";\n");
  for (size_t k = 0; k < step->input_count; k++) {
    if (!step->inputs[k].buffer) continue;
    const char *in = c_type(step->inputs[k].dtype);
    text_printf(&body, "    const %s *const q%zu = (const %s *)from[%zu]", in, k, in, k);
    emit_index(&body, nest.stride[k], 0, nest.inner ? middle : 0);
    text_puts(&body, ";\n");
  }
  hone_status status = emit_row(e, &body, step, &nest);
  if (nest.inner == 2) text_puts(&body, "    }\n");
  text_puts(&body, "  }\n}\n");
  if (!status) /* what is not written in vectors the compiler may make vectors of */
    status = emit_shared(e, &body, is_vector(step, &nest) ? UNIT_VECTORS : UNIT_LOOPS,
                         loop_type(step), out_number);
  text_deinit(&body);
  return status;
}

/* -- copies -------------------------------------------------------------------------------------
 */

static bool has_border(const struct copy_dim *dim) { return dim->inner != dim->size; }

/* Declares y (source index) and narrows `inside` for a dimension with a border. */
static void emit_source_index(struct text *out, const struct copy_dim *dim, int d) {
  if (!has_border(dim)) return;
  text_printf(out, "    const long y%d = x%d - %lldl;\n", d, d, (long long)dim->before);
  text_printf(out, "    const int in%d = y%d >= 0 && y%d < ", d, d, d);
  emit_size(out, dim->inner, &dim->slope);
  text_puts(out, ";\n");
}

/* A packed side is as dense as the actual sizes of the dimensions behind let it be. */
static void emit_stride(struct text *out, const struct step *step, int d, enum packed_side side) {
  if (step->packed != side) {
    text_printf(out, "%lldl",
                (long long)(side == PACKED_TO ? step->copy[d].to : step->copy[d].from));
    return;
  }
  text_puts(out, "1l");
  for (int k = d + 1; k < step->copy_rank; k++) {
    text_puts(out, " * ");
    emit_size(out, step->copy[k].size, &step->copy[k].slope);
  }
}

static void emit_row_pointers(struct text *out, const struct step *step, int last) {
  bool guarded = false;
  text_puts(out, "    element *const o = (element *)to");
  for (int d = 0; d < last; d++) {
    if (!step->copy[d].to) continue;
    text_printf(out, " + x%d * ", d);
    emit_stride(out, step, d, PACKED_TO);
  }
  text_puts(out, ";\n    const int inside = 1");
  for (int d = 0; d < last; d++)
    if (has_border(&step->copy[d])) {
      text_printf(out, " && in%d", d);
      guarded = true;
    }
  text_printf(out, ";\n    const element *const q = %s(const element *)from[0]",
              guarded ? "!inside ? NULL : " : "");
  for (int d = 0; d < last; d++) {
    if (!step->copy[d].from) continue;
    text_printf(out, " + %c%d * ", has_border(&step->copy[d]) ? 'y' : 'x', d);
    emit_stride(out, step, d, PACKED_FROM);
  }
  text_puts(out, ";\n");
}

static void emit_border(struct text *out, const struct copy_dim *dim, long long from,
                        long long to) {
  if (from < to)
    text_printf(out, "    for (long j = %lldl; j < %lldl; j++) o[j * %lldl] = fill;\n", from, to,
                (long long)dim->to);
}

static void emit_copy_row(struct text *out, const struct step *step, int last, int64_t chunk) {
  if (last < 0) {
    text_puts(out, "    *o = *q;\n");
    return;
  }
  const struct copy_dim *dim = &step->copy[last];
  bool contiguous = dim->to == 1 && dim->from == 1; /* strides of the last are fixed */
  bool guarded = false;
  for (int d = 0; d < last; d++) guarded |= has_border(&step->copy[d]);
  if (chunk) {
    text_puts(out, "    const long all = ");
    emit_size(out, dim->size, &dim->slope);
    text_printf(out, ", j = u * %lldl, n = j + %lldl < all ? %lldl : all - j;\n", (long long)chunk,
                (long long)chunk, (long long)chunk);
    if (contiguous)
      text_puts(out, "    memcpy(o + j, q + j, (size_t)n * sizeof *o);\n");
    else
      text_printf(out, "    for (long i = j; i < j + n; i++) o[i * %lldl] = q[i * %lldl];\n",
                  (long long)dim->to, (long long)dim->from);
    return;
  }
  if (guarded) {
    text_puts(out, "    if (!inside) {\n");
    emit_border(out, dim, 0, dim->size);
    text_puts(out, "    } else {\n");
  }
  emit_border(out, dim, 0, dim->before);
  bool alone = !step->inputs[0].buffer; /* a border alone */
  if (alone)
    text_puts(out, "    (void)q;\n");
  else
    text_puts(out, "    const long inner = ");
  if (!alone) emit_size(out, dim->inner, &dim->slope);
  if (!alone && contiguous)
    text_printf(out, ";\n    memcpy(o + %lldl, q, (size_t)inner * sizeof *o);\n",
                (long long)dim->before);
  else if (!alone)
    text_printf(out,
                ";\n    for (long j = 0; j < inner; j++) o[(j + %lldl) * %lldl] = q[j * %lldl];\n",
                (long long)dim->before, (long long)dim->to, (long long)dim->from);
  emit_border(out, dim, dim->before + dim->inner, dim->size);
  if (guarded) text_puts(out, "    }\n");
}

/* Squares of four words at a time, where the target has vectors: four lines of the result over whole lines of the cache, as
   more of them may share a set. */
static void emit_squares(struct text *out, int64_t to, int64_t from) {
  text_puts(out,
            "    const long whole = part + (n - part) / 4 * 4;\n"
            "    for (long first = part; first < whole; first += 64) {\n"
            "      const long last = first + 64 < whole ? first + 64 : whole;\n      long i = 0;\n"
            "      for (; i + 4 <= m; i += 4)\n        for (j = first; j < last; j += 4) {\n");
  static const char rows[] = "abcd";
  for (int k = 0; k < 4; k++)
    text_printf(out, "        const four %c = *(const fouru *)(q + (j + %d) * %lldl + i);\n",
                rows[k], k, (long long)from);
  static const char *const halves[] = {"ab", "cd"}, *const lanes[] = {"0, 4, 1, 5", "2, 6, 3, 7"};
  for (int half = 0; half < 2; half++)
    for (int side = 0; side < 2; side++)
      text_printf(out, "        const four %s%d = __builtin_shufflevector(%c, %c, %s);\n",
                  halves[half], side, halves[half][0], halves[half][1], lanes[side]);
  for (int k = 0; k < 4; k++)
    text_printf(
        out,
        "        *(fouru *)(o + (i + %d) * %lldl + j) = __builtin_shufflevector(ab%d, cd%d, "
        "%s);\n",
        k, (long long)to, k / 2, k / 2, k % 2 ? "2, 3, 6, 7" : "0, 1, 4, 5");
  text_printf(out,
              "        }\n      for (; i < m; i++)\n"
              "        for (j = first; j < last; j++) o[i * %lldl + j] = q[j * %lldl + i];\n    }\n"
              "    j = whole;\n",
              (long long)to, (long long)from);
}

static hone_status emit_transposition(struct emitter *e, const struct step *step, int across,
                                      int *out_number) {
  struct text body = {0};
  const struct copy_dim *dims = step->copy;
  const int last = step->copy_rank - 1;
  const size_t bytes = dtype_bytes(step->inputs[0].dtype);
  const long long to = dims[across].to, from = dims[last].from;
  const long long blocks = plan_transposed_blocks(&dims[across], TRANSPOSED_BLOCK);
  const long long parts = plan_transposed_blocks(&dims[last], TRANSPOSED_PART);
  begin_loops(&body, step);
  text_printf(&body, "  typedef %s MAY_ALIAS element;\n", element_type(bytes));
  const bool has_squares = bytes == 4 && e->plan->target.vector_bytes >= 16;
  if (has_squares)
    text_puts(
        &body,
        "  typedef uint32_t four __attribute__((vector_size(16)));\n"
        "  typedef uint32_t fouru __attribute__((vector_size(16), aligned(4), may_alias));\n");
  text_printf(&body,
              "  for (long u = begin; u < end; u++) {\n    long rest = u;\n"
              "    const long x%d = rest %% %lldl * %d;\n    rest /= %lldl;\n"
              "    const long part = rest %% %lldl * %d;\n    rest /= %lldl;\n",
              across, blocks, TRANSPOSED_BLOCK, blocks, parts, TRANSPOSED_PART, parts);
  for (int d = last; d-- > 0;)
    if (d != across) emit_rest(&body, d, dims[d].size, &dims[d].slope);
  text_printf(&body,
              "    (void)rest;\n    const long left = %lldl - x%d, m = left < %d ? left : %d;\n"
              "    const long all = %lldl, n = part + %d < all ? part + %d : all;\n"
              "    element *const o = (element *)to",
              (long long)dims[across].size, across, TRANSPOSED_BLOCK, TRANSPOSED_BLOCK,
              (long long)dims[last].size, TRANSPOSED_PART, TRANSPOSED_PART);
  for (int d = 0; d < last; d++) text_printf(&body, " + x%d * %lldl", d, (long long)dims[d].to);
  text_puts(&body, ";\n    const element *const q = (const element *)from[0]");
  for (int d = 0; d < last; d++) text_printf(&body, " + x%d * %lldl", d, (long long)dims[d].from);
  text_puts(&body, ";\n    long j = part;\n");
  if (has_squares) emit_squares(&body, to, from);
  text_printf(&body,
              "    for (; j < n; j++)\n      for (long i = 0; i < m; i++) o[i * %lldl + j] = q[j * "
              "%lldl + i];\n  }\n}\n",
              to, from);
  hone_status status = emit_shared(e, &body, UNIT_LOOPS, loop_type(step), out_number);
  text_deinit(&body);
  return status;
}

enum { INTERLEAVED_MOST = 4 };
/* Whether the last dimension is few planes that become neighbours: an image of a few channels turned. */
static bool is_interleaving(const struct step *step) {
  const int last = step->copy_rank - 1;
  if (last < 1 || step->packed || !step->inputs[0].buffer || step->inputs[0].dtype == HONE_STRING)
    return false;
  const struct copy_dim *plane = &step->copy[last], *pixel = &step->copy[last - 1];
  return slope_is_zero(&plane->slope) && slope_is_zero(&pixel->slope) && !has_border(plane) &&
         plane->size > 1 && plane->size <= INTERLEAVED_MOST && plane->to == 1 && plane->from != 1 &&
         pixel->to == plane->size && pixel->from == 1;
}

/* A row of pixels, all planes at once, between its borders. */
static void emit_interleaved_row(struct text *out, const struct step *step) {
  const struct copy_dim *plane = &step->copy[step->copy_rank - 1], *pixel = plane - 1;
  const long long planes = plane->size, size = pixel->size, before = pixel->before;
  text_printf(out,
              "    const long first = inside ? %lldl : %lldl, n = inside ? %lldl : 0;\n"
              "    for (long j = 0; j < first * %lldl; j++) o[j] = fill;\n"
              "    for (long j = 0; j < n; j++) {\n",
              before, size, (long long)pixel->inner, planes);
  for (long long k = 0; k < planes; k++)
    text_printf(out, "      o[(%lldl + j) * %lldl + %lldl] = q[j + %lldl];\n", before, planes, k,
                k * (long long)plane->from);
  text_printf(out, "    }\n    for (long j = (first + n) * %lldl; j < %lldl; j++) o[j] = fill;\n",
              planes, size * planes);
}

hone_status emit_copy(struct emitter *e, const struct step *step, int *out_number) {
  const int across = plan_transposition(step);
  if (across >= 0) return emit_transposition(e, step, across, out_number);
  struct text body = {0};
  int inner, rank = step->copy_rank;
  int64_t chunk, units, size[2 * HONE_MAX_RANK];
  struct slope slope[2 * HONE_MAX_RANK];
  plan_copy_loops(step, &inner, &chunk, &units);
  int outer = inner ? rank - inner : 0;
  for (int d = 0; d < rank; d++) size[d] = step->copy[d].size, slope[d] = step->copy[d].slope;
  begin_loops(&body, step);
  text_printf(&body, "  typedef %s MAY_ALIAS element;\n",
              element_type(dtype_bytes(step->inputs[0].dtype)));
  if (step->inputs[0].dtype == HONE_STRING)
    text_puts(&body, "  const element fill = {\"\", 0};\n");
  else
    text_printf(&body, "  const element fill = (element)0x%llxu;\n",
                (unsigned long long)step->fill_bits);
  text_puts(&body, "  (void)fill;\n");
  text_puts(&body, "  for (long u = begin; u < end; u++) {\n");
  emit_outer(&body, size, slope, outer);
  for (int d = 0; d < outer; d++) emit_source_index(&body, &step->copy[d], d);
  const bool interleaves = inner == 2 && is_interleaving(step);
  if (inner == 2 && !interleaves) {
    emit_for(&body, outer, size[outer], &slope[outer]);
    emit_source_index(&body, &step->copy[outer], outer);
  }
  emit_row_pointers(&body, step, interleaves ? outer : inner ? rank - 1 : 0);
  text_puts(&body, "    (void)inside;\n");
  if (interleaves)
    emit_interleaved_row(&body, step);
  else
    emit_copy_row(&body, step, rank - 1, inner ? 0 : chunk);
  if (inner == 2 && !interleaves) text_puts(&body, "    }\n");
  text_puts(&body, "  }\n}\n");
  hone_status status = emit_shared(e, &body, UNIT_LOOPS, loop_type(step), out_number);
  text_deinit(&body);
  return status;
}
