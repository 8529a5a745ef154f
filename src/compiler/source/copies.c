/* Strided copies as loop nests (with borders, interleaving a few planes, transposed), and fills. */
#include "source_internal.h"

/* Elements are moved as raw words of their size; a string is read as struct hone_text. */
static void emit_element_type(struct strbuf *out, size_t bytes) {
  const char *type = bytes == 1   ? "uint8_t"
                     : bytes == 2 ? "uint16_t"
                     : bytes == 4 ? "uint32_t"
                                  : "uint64_t";
  if (bytes == STRING_BYTES)
    strbuf_puts(out, "typedef struct hone_text element;\n");
  else
    strbuf_printf(out, "typedef %s MAY_ALIAS element;\n", type);
}

static bool has_border(const struct copy_dim *dim) { return dim->inner != dim->size; }

/* Declares y (source index) and narrows `inside` for a dimension with a border. */
static void emit_source_index(struct strbuf *out, const struct copy_dim *dim, int d) {
  if (!has_border(dim)) return;
  strbuf_printf(out, "const long y%d = x%d - %lldl;\n", d, d, (long long)dim->before);
  strbuf_printf(out, "const int in%d = y%d >= 0 && y%d < ", d, d, d);
  emit_size(out, dim->inner, &dim->slope);
  strbuf_puts(out, ";\n");
}

/* " + x0 * 64l", or y0. A packed dimension's stride follows from the actual size of the next. */
static void emit_term(struct strbuf *out, const struct step *step, int d, bool is_to) {
  const struct copy_dim *dim = &step->copy[d];
  char index[16];
  if (!(is_to ? dim->to : dim->from)) return;
  snprintf(index, sizeof index, "%c%d", !is_to && has_border(dim) ? 'y' : 'x', d);
  strbuf_puts(out, " + ");
  bool is_packed = false;
  for (; (is_to ? dim->packed_to : dim->packed_from) && d + 1 < step->copy_rank; dim++, d++) {
    strbuf_puts(out, is_packed ? " * " : "");
    strbuf_printf(out, is_packed ? "" : "%s * ", index);
    emit_size(out, dim[1].size, &dim[1].slope);
    is_packed = true;
  }
  emit_strided(out, is_packed ? "" : index, is_to ? dim->to : dim->from);
}

/* True if one of the first dimensions has a border: `inside` is then false for rows in it. */
static bool is_guarded(const struct step *step, int count) {
  bool guarded = false;
  for (int d = 0; d < count; d++) guarded |= has_border(&step->copy[d]);
  return guarded;
}

static void emit_row_pointers(struct strbuf *out, const struct step *step, int last) {
  const bool guarded = is_guarded(step, last);
  const char *join = "const int inside = ";
  strbuf_puts(out, "element *const o = (element *)to");
  for (int d = 0; d < last; d++) emit_term(out, step, d, true);
  strbuf_puts(out, ";\n");
  for (int d = 0; d < last; d++) {
    if (!has_border(&step->copy[d])) continue;
    strbuf_printf(out, "%sin%d", join, d);
    join = " && ";
  }
  if (guarded) strbuf_puts(out, ";\n");
  if (!step->inputs[0].buffer) return;
  strbuf_printf(out, "const element *const q = %s(const element *)from[0]",
                guarded ? "!inside ? NULL : " : "");
  for (int d = 0; d < last; d++) emit_term(out, step, d, false);
  strbuf_puts(out, ";\n");
}

static void emit_border(struct strbuf *out, const struct copy_dim *dim, long long from,
                        long long to) {
  if (from >= to) return;
  strbuf_printf(out, "for (long j = %lldl; j < %lldl; j++) o[", from, to);
  emit_strided(out, "j", dim->to);
  strbuf_puts(out, "] = fill;\n");
}

/* A part of a long row: work item u. */
static void emit_copy_chunk(struct strbuf *out, const struct copy_dim *dim, int64_t chunk) {
  strbuf_puts(out, "const long all = ");
  emit_size(out, dim->size, &dim->slope);
  strbuf_printf(out, ", j = u * %lldl, n = j + %lldl < all ? %lldl : all - j;\n", (long long)chunk,
                (long long)chunk, (long long)chunk);
  if (dim->to == 1 && dim->from == 1) {
    strbuf_puts(out, "memcpy(o + j, q + j, (size_t)n * sizeof *o);\n");
    return;
  }
  strbuf_puts(out, "for (long i = j; i < j + n; i++) o[");
  emit_strided(out, "i", dim->to);
  strbuf_puts(out, "] = q[");
  emit_strided(out, "i", dim->from);
  strbuf_puts(out, "];\n");
}

/* The elements between the borders of a row. */
static void emit_inner(struct strbuf *out, const struct copy_dim *dim) {
  char index[40] = "j";
  strbuf_puts(out, "const long inner = ");
  emit_size(out, dim->inner, &dim->slope);
  if (dim->to == 1 && dim->from == 1) { /* strides of the last dimension are fixed */
    strbuf_puts(out, ";\nmemcpy(o");
    if (dim->before) strbuf_printf(out, " + %lldl", (long long)dim->before);
    strbuf_puts(out, ", q, (size_t)inner * sizeof *o);\n");
    return;
  }
  strbuf_puts(out, ";\nfor (long j = 0; j < inner; j++) o[");
  if (dim->before) snprintf(index, sizeof index, "(j + %lldl)", (long long)dim->before);
  emit_strided(out, index, dim->to);
  strbuf_puts(out, "] = q[");
  emit_strided(out, "j", dim->from);
  strbuf_puts(out, "];\n");
}

static void emit_copy_row(struct strbuf *out, const struct step *step, int last, int64_t chunk) {
  if (last < 0) {
    strbuf_puts(out, "*o = *q;\n");
    return;
  }
  const struct copy_dim *dim = &step->copy[last];
  if (chunk) {
    emit_copy_chunk(out, dim, chunk);
    return;
  }
  const bool guarded = is_guarded(step, last);
  if (guarded) {
    strbuf_puts(out, "if (!inside) {\n");
    emit_border(out, dim, 0, dim->size);
    strbuf_puts(out, "} else {\n");
  }
  emit_border(out, dim, 0, dim->before);
  if (step->inputs[0].buffer) emit_inner(out, dim);
  emit_border(out, dim, dim->before + dim->inner, dim->size);
  if (guarded) strbuf_puts(out, "}\n");
}

/* Squares of four words at a time, if the target has vectors: only four lines of the result with
   whole cache lines, because more of them may share a cache set. */
static void emit_squares(struct strbuf *out, int64_t to, int64_t from) {
  strbuf_puts(out,
              "const long whole = part + (n - part) / 4 * 4;\n"
              "for (long first = part; first < whole; first += 64) {\n"
              "const long last = first + 64 < whole ? first + 64 : whole;\nlong i = 0;\n"
              "for (; i + 4 <= m; i += 4) {\nfor (j = first; j < last; j += 4) {\n");
  static const char rows[] = "abcd";
  for (int k = 0; k < 4; k++)
    strbuf_printf(out, "const four %c = *(const fouru *)(q + (j + %d) * %lldl + i);\n", rows[k], k,
                  (long long)from);
  static const char *const halves[] = {"ab", "cd"}, *const lanes[] = {"0, 4, 1, 5", "2, 6, 3, 7"};
  for (int half = 0; half < 2; half++)
    for (int side = 0; side < 2; side++)
      strbuf_printf(out, "const four %s%d = __builtin_shufflevector(%c, %c, %s);\n", halves[half],
                    side, halves[half][0], halves[half][1], lanes[side]);
  for (int k = 0; k < 4; k++)
    strbuf_printf(out,
                  "*(fouru *)(o + (i + %d) * %lldl + j) = __builtin_shufflevector(ab%d, cd%d, "
                  "%s);\n",
                  k, (long long)to, k / 2, k / 2, k % 2 ? "2, 3, 6, 7" : "0, 1, 4, 5");
  strbuf_printf(out,
                "}\n}\nfor (i = m / 4 * 4; i < m; i++) {\n"
                "for (j = first; j < last; j++) o[i * %lldl + j] = q[j * %lldl + i];\n}\n}\n"
                "j = whole;\n",
                (long long)to, (long long)from);
}

static hone_status emit_transposition(struct emitter *e, const struct step *step, int across,
                                      int *out_number) {
  struct strbuf body = {0};
  const struct copy_dim *dims = step->copy;
  const int last = step->copy_rank - 1;
  const size_t bytes = dtype_bytes(step->inputs[0].dtype);
  const long long to = dims[across].to, from = dims[last].from;
  const long long blocks = plan_transposed_blocks(&dims[across], TRANSPOSED_BLOCK);
  const long long parts = plan_transposed_blocks(&dims[last], TRANSPOSED_PART);
  begin_loops(&body, step);
  emit_element_type(&body, bytes);
  const bool has_squares = bytes == 4 && e->plan->schedule.target.vector_bytes >= 16;
  if (has_squares)
    strbuf_puts(
        &body,
        "typedef uint32_t four __attribute__((vector_size(16)));\n"
        "typedef uint32_t fouru __attribute__((vector_size(16), aligned(4), may_alias));\n");
  strbuf_printf(&body,
                "for (long u = begin; u < end; u++) {\nlong rest = u;\n"
                "const long x%d = rest %% %lldl * %d;\nrest /= %lldl;\n"
                "const long part = rest %% %lldl * %d;\nrest /= %lldl;\n",
                across, blocks, TRANSPOSED_BLOCK, blocks, parts, TRANSPOSED_PART, parts);
  for (int d = last; d-- > 0;)
    if (d != across) emit_rest(&body, d, dims[d].size, &dims[d].slope);
  strbuf_printf(&body,
                "(void)rest;\nconst long left = %lldl - x%d, m = left < %d ? left : %d;\n"
                "const long all = %lldl, n = part + %d < all ? part + %d : all;\n"
                "element *const o = (element *)to",
                (long long)dims[across].size, across, TRANSPOSED_BLOCK, TRANSPOSED_BLOCK,
                (long long)dims[last].size, TRANSPOSED_PART, TRANSPOSED_PART);
  for (int d = 0; d < last; d++) emit_term(&body, step, d, true);
  strbuf_puts(&body, ";\nconst element *const q = (const element *)from[0]");
  for (int d = 0; d < last; d++) emit_term(&body, step, d, false);
  strbuf_puts(&body, ";\nlong j = part;\n");
  if (has_squares) emit_squares(&body, to, from);
  strbuf_printf(&body,
                "for (; j < n; j++) {\n"
                "for (long i = 0; i < m; i++) o[i * %lldl + j] = q[j * %lldl + i];\n}\n}\n}\n",
                to, from);
  hone_status status = share_loops(e, step, &body, UNIT_LOOPS, out_number);
  strbuf_deinit(&body);
  return status;
}

enum { INTERLEAVED_MOST = 4 };
/* True if the last dimension interleaves a few planes: an image of few channels to channels
   last. */
static bool is_interleaving(const struct step *step) {
  const int last = step->copy_rank - 1;
  if (last < 1 || step->packed_to || step->packed_from || !step->inputs[0].buffer ||
      step->inputs[0].dtype == HONE_STRING)
    return false;
  const struct copy_dim *plane = &step->copy[last], *pixel = &step->copy[last - 1];
  return slope_is_zero(&plane->slope) && slope_is_zero(&pixel->slope) && !has_border(plane) &&
         plane->size > 1 && plane->size <= INTERLEAVED_MOST && plane->to == 1 && plane->from != 1 &&
         pixel->to == plane->size && pixel->from == 1;
}

/* A row of pixels, all planes at once, without its borders. */
static void emit_interleaved_row(struct strbuf *out, const struct step *step) {
  const struct copy_dim *plane = &step->copy[step->copy_rank - 1], *pixel = plane - 1;
  const long long planes = plane->size, size = pixel->size, before = pixel->before,
                  inner = pixel->inner;
  if (is_guarded(step, step->copy_rank - 2))
    strbuf_printf(out, "const long first = inside ? %lldl : %lldl, n = inside ? %lldl : 0;\n",
                  before, size, inner);
  else
    strbuf_printf(out, "const long first = %lldl, n = %lldl;\n", before, inner);
  strbuf_printf(out,
                "for (long j = 0; j < first * %lldl; j++) o[j] = fill;\n"
                "for (long j = 0; j < n; j++) {\n",
                planes);
  for (long long k = 0; k < planes; k++)
    strbuf_printf(out, "o[(%lldl + j) * %lldl + %lldl] = q[j + %lldl];\n", before, planes, k,
                  k * (long long)plane->from);
  strbuf_printf(out, "}\nfor (long j = (first + n) * %lldl; j < %lldl; j++) o[j] = fill;\n", planes,
                size * planes);
}

static void emit_fill_value(struct strbuf *out, const struct step *step) {
  if (step->inputs[0].dtype == HONE_STRING)
    strbuf_puts(out, "const element fill = {\"\", 0};\n");
  else
    strbuf_printf(out, "const element fill = (element)0x%llxu;\n",
                  (unsigned long long)step->fill_bits);
}

hone_status emit_copy(struct emitter *e, const struct step *step, int *out_number) {
  const int across = plan_transposition(step);
  if (across >= 0) return emit_transposition(e, step, across, out_number);
  struct strbuf body = {0};
  int inner, rank = step->copy_rank;
  int64_t chunk, units, size[2 * HONE_MAX_RANK];
  struct slope slope[2 * HONE_MAX_RANK];
  plan_copy_loops(step, &inner, &chunk, &units);
  int outer = inner ? rank - inner : 0;
  for (int d = 0; d < rank; d++) size[d] = step->copy[d].size, slope[d] = step->copy[d].slope;
  const bool interleaves = inner == 2 && is_interleaving(step);
  begin_loops(&body, step);
  emit_element_type(&body, dtype_bytes(step->inputs[0].dtype));
  if (interleaves || is_guarded(step, rank)) emit_fill_value(&body, step);
  if (!step->inputs[0].buffer) strbuf_puts(&body, "(void)from;\n"); /* only a border */
  strbuf_puts(&body, "for (long u = begin; u < end; u++) {\n");
  emit_outer(&body, size, slope, outer);
  for (int d = 0; d < outer; d++) emit_source_index(&body, &step->copy[d], d);
  if (inner == 2 && !interleaves) {
    emit_for(&body, outer, size[outer], &slope[outer]);
    emit_source_index(&body, &step->copy[outer], outer);
  }
  emit_row_pointers(&body, step, interleaves ? outer : inner ? rank - 1 : 0);
  if (interleaves)
    emit_interleaved_row(&body, step);
  else
    emit_copy_row(&body, step, rank - 1, inner ? 0 : chunk);
  if (inner == 2 && !interleaves) strbuf_puts(&body, "}\n");
  strbuf_puts(&body, "}\n}\n");
  hone_status status = share_loops(e, step, &body, UNIT_LOOPS, out_number);
  strbuf_deinit(&body);
  return status;
}

/* -- fills */

/* A work item is one index of all other dimensions, except one of neighbouring elements. */
hone_status emit_fill(struct emitter *e, const struct step *step, int *out_number) {
  const struct view *to = &step->outputs[0];
  const int axis = step->fill_axis, lines = plan_fill_lines(step);
  const long long most = step->fill_count, across = to->stride[axis];
  struct strbuf body = {0};
  begin_loops(&body, step);
  emit_element_type(&body, dtype_bytes(to->dtype));
  const struct slope slope = view_slope(to, axis);
  strbuf_puts(&body, "(void)from;\nconst long size = ");
  emit_size(&body, to->shape.dims[axis], &slope);
  strbuf_printf(&body,
                ", room = %lldl - size, count = room < %lldl ? room : %lldl;\n"
                "if (!count) return;\nfor (long u = begin; u < end; u++) {\nlong rest = u;\n"
                "element *o = (element *)to + size * %lldl;\n",
                (long long)to->shape.dims[axis], most, most, across);
  for (int d = to->shape.rank; d-- > 0;) {
    if (d == axis || d == lines || to->shape.dims[d] == 1) continue;
    strbuf_printf(&body, "o += rest %% %lldl * %lldl;\nrest /= %lldl;\n",
                  (long long)to->shape.dims[d], (long long)to->stride[d],
                  (long long)to->shape.dims[d]);
  }
  strbuf_printf(&body,
                "(void)rest;\nfor (long j = 0; j < count; j++)\n"
                "for (long i = 0; i < %lldl; i++) o[j * %lldl + i] = ",
                lines < 0 ? 1ll : (long long)to->shape.dims[lines], across);
  if (step->fill_repeats) /* nothing if there is no last element */
    strbuf_printf(&body, "size ? o[i - %lldl] : 0;\n}\n}\n", across);
  else
    strbuf_printf(&body, "(element)0x%llxu;\n}\n}\n", (unsigned long long)step->fill_bits);
  hone_status status = share_loops(e, step, &body, UNIT_LOOPS, out_number);
  strbuf_deinit(&body);
  return status;
}
