/* The packed weights, as they lie in memory and in the artifact. */
#include "emit_internal.h"

#include <sys/mman.h>

hone_status make_weights(struct emitter *e, struct emitted *out) {
  out->weights_bytes = e->plan->weights_bytes;
  if (!out->weights_bytes) return HONE_OK;
  out->mapped_bytes = out->weights_bytes;
  out->weights =
      mmap(NULL, out->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (out->weights == MAP_FAILED) {
    out->weights = NULL;
    return fail(e->ctx, HONE_E_OOM, place_none(), "no memory for %zu bytes of weights",
                out->weights_bytes);
  }
  for (size_t i = 0; i < e->plan->buffers.count; i++) {
    const struct buffer *b = e->plan->buffers.at[i];
    if (b->place != BUFFER_WEIGHTS) continue;
    char *at = (char *)out->weights + b->offset;
    if (b->pack.kernel)
      b->pack.kernel->pack(
          &b->problem, &e->plan->kernel_target, &b->pack,
          (const char *)b->tensor->data + (size_t)b->pack_offset * dtype_bytes(b->tensor->dtype),
          at);
    else
      memcpy(at, b->tensor->data, b->tensor->bytes);
  }
  return HONE_OK;
}
