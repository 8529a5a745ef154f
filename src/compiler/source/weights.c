/* Packed weights: their layout, their hash, and how a part is made. They are packed while the
 * artifact is written, so that memory never holds all of them.
 */
#include "source_internal.h"

enum { SLICE_BYTES = 8 << 20 }; /* packed at a time: several threads work on one tensor */

/* The number of columns of a panel, if panels are stored one after another in any kernel, so
   that some of them are a problem of fewer columns. 0: the buffer is packed as a whole, like
   block-quantised weights, whose scales come after the last column. */
static int64_t sliced_columns(const struct buffer *b, const struct kernel_target *target,
                              int64_t *out_columns, int64_t *out_stride) {
  const struct problem *p = &b->problem;
  bool gemm = p->kind == PROBLEM_gemm && p->b_batches <= 1 && !p->block;
  bool conv = p->kind == PROBLEM_conv && p->groups <= 1;
  *out_columns = gemm ? p->n : p->oc;
  *out_stride = gemm ? p->b_column : p->ic * p->kh * p->kw;
  return gemm || conv ? choice_value(&b->pack, "vectors", 0) * (target->vector_bytes / 4) : 0;
}

static hone_status add_slices(struct emitter *e, const struct buffer *b) {
  const struct kernel_target *target = &e->plan->schedule.kernels;
  int64_t columns = 0, stride = 0, width = sliced_columns(b, target, &columns, &stride);
  int64_t panels = width ? (columns + width - 1) / width : 1, at_a_time = panels;
  size_t exact = b->pack.kernel->packed_bytes(&b->problem, target, &b->pack);
  if (width && exact / (size_t)panels * (size_t)panels == exact)
    at_a_time = 1 + (int64_t)(SLICE_BYTES / (exact / (size_t)panels + 1));
  for (int64_t first = 0; first < panels; first += at_a_time) {
    struct emitted_part part = {.offset = b->offset,
                                .bytes = b->bytes,
                                .buffer = b,
                                .target = target,
                                .problem = b->problem,
                                .pack_offset = b->pack_offset};
    if (at_a_time < panels) {
      bool last = first + at_a_time >= panels;
      int64_t left = last ? columns - first * width : at_a_time * width;
      *(part.problem.kind == PROBLEM_gemm ? &part.problem.n : &part.problem.oc) = left;
      part.pack_offset += first * width * stride;
      size_t begin = exact / (size_t)panels * (size_t)first;
      part.offset += begin;
      part.bytes = last ? b->bytes - begin : exact / (size_t)panels * (size_t)at_a_time;
    }
    VEC_PUSH(e->ctx, e->arena, &e->parts, part);
  }
  return HONE_OK;
}

hone_status make_weights(struct emitter *e, struct emitted *out) {
  const struct plan *plan = e->plan;
  out->weights_bytes = plan->weights_bytes;
  for (size_t i = 0; i < plan->buffers.count; i++) {
    const struct buffer *b = plan->buffers.at[i];
    if (b->place != BUFFER_WEIGHTS || b->first < 0 || b->over) continue;
    if (b->pack.kernel)
      TRY(add_slices(e, b));
    else
      VEC_PUSH(e->ctx, e->arena, &e->parts,
               (struct emitted_part){.offset = b->offset,
                                     .bytes = b->tensor->bytes,
                                     .data = b->tensor->data,
                                     .buffer = b});
  }
  out->parts = e->parts.at;
  out->part_count = e->parts.count;
  return HONE_OK;
}

void emitted_pack(const struct emitted *emitted, size_t part, void *to) {
  const struct emitted_part *p = &emitted->parts[part];
  const struct buffer *b = p->buffer;
  if (p->data) {
    memcpy(to, p->data, p->bytes);
    return;
  }
  const char *from =
      (const char *)b->tensor->data + (size_t)p->pack_offset * dtype_bytes(b->tensor->dtype);
  b->pack.kernel->pack(&p->problem, p->target, &b->pack, from, to);
}

/* The input of packing: the constants, and how each part is packed. Known before anything is
   packed, so a cached artifact needs no packing. */
void hash_weights(const struct emitted *emitted, struct strbuf *out) {
  for (size_t i = 0; i < emitted->part_count; i++) {
    const struct emitted_part *p = &emitted->parts[i];
    char hash[33], line[1024] = "";
    if (i && p->buffer == p[-1].buffer) continue; /* a slice: hashed with the first one */
    hash_hex(hash, p->buffer->tensor->data, p->buffer->tensor->bytes);
    strbuf_printf(out, "%s %zu %zu %lld", hash, p->offset, p->buffer->bytes,
                  (long long)p->buffer->pack_offset);
    if (!p->data) {
      choice_print(line, sizeof line, &p->buffer->pack);
      strbuf_printf(out, " %s", line);
      problem_print(line, sizeof line, &p->buffer->problem);
      strbuf_printf(out, " %s", line);
    }
    strbuf_puts(out, "\n");
  }
}
