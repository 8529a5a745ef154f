/* The packed weights: what lies where, what they are recognised by, and how a part comes to be. They
 * are made while the artifact is written, so that they never stand in memory as a whole. */
#include "emit_internal.h"

hone_status make_weights(struct emitter *e, struct emitted *out) {
  const struct plan *plan = e->plan;
  TRY(NEW_ARRAY(e->ctx, e->arena, out->parts, plan->buffers.count));
  out->weights_bytes = plan->weights_bytes;
  out->target = &plan->kernel_target;
  for (size_t i = 0; i < plan->buffers.count; i++) {
    const struct buffer *b = plan->buffers.at[i];
    if (b->place != BUFFER_WEIGHTS) continue;
    bool packs = b->pack.kernel != NULL;
    out->parts[out->part_count++] =
        (struct emitted_part){.offset = b->offset,
                              .bytes = packs ? b->bytes : b->tensor->bytes,
                              .data = packs ? NULL : b->tensor->data,
                              .buffer = b};
  }
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
      (const char *)b->tensor->data + (size_t)b->pack_offset * dtype_bytes(b->tensor->dtype);
  b->pack.kernel->pack(&b->problem, emitted->target, &b->pack, from, to);
}

/* What decides the packed bytes: the constants as they came, and for each part how it is packed. That
   is known before anything is packed, and a cached artifact needs no packing at all. */
void hash_weights(const struct emitted *emitted, struct text *out) {
  for (size_t i = 0; i < emitted->part_count; i++) {
    const struct emitted_part *p = &emitted->parts[i];
    char hash[33], line[1024] = "";
    hash_hex(hash, p->buffer->tensor->data, p->buffer->tensor->bytes);
    text_printf(out, "%s %zu %zu %lld", hash, p->offset, p->bytes,
                (long long)p->buffer->pack_offset);
    if (!p->data) {
      choice_print(line, sizeof line, &p->buffer->pack);
      text_printf(out, " %s", line);
      problem_print(line, sizeof line, &p->buffer->problem);
      text_printf(out, " %s", line);
    }
    text_puts(out, "\n");
  }
}
