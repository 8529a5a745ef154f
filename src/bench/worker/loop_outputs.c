/* The outputs of the timed loop: poisoned before a checked iteration, compared after the slice. */
#include "loop.h"

#include <stdlib.h>

#define POISON 0xff /* NaN in every float type, -1 in integers */

/* Copies of string outputs: the engine's strings are in memory that the next inference reuses. */
struct loop_texts {
  struct loop_texts *next;
  char bytes[];
};

static void poison_text(const hone_tensor *tensor) {
  static const char nobodys[] = "\xff text that no engine writes";
  const size_t count = tensor_elements(tensor);
  for (size_t i = 0; i < count; i++)
    ((hone_string *)tensor->data)[i] = (hone_string){nobodys, sizeof nobodys - 1};
}

void loop_poison(const struct loop *loop, size_t set) {
  for (size_t i = 0; i < loop->io->output_count; i++)
    if (loop->sets[set].outputs[i].dtype == HONE_STRING)
      poison_text(&loop->sets[set].outputs[i]);
    else
      memset(loop->sets[set].outputs[i].data, POISON, loop->output_bytes[i]);
}

static hone_status keep_one(struct ctx *ctx, struct loop *loop, const hone_tensor *tensor) {
  const size_t count = tensor_elements(tensor);
  hone_string *table = tensor->data;
  size_t bytes = sizeof(struct loop_texts);
  for (size_t i = 0; i < count; i++)
    if (!checked_add(bytes, table[i].length, &bytes))
      return fail(ctx, HONE_E_LIMIT, place_none(), "a string output is too long");
  struct loop_texts *texts = malloc(bytes);
  if (!texts) return fail(ctx, HONE_E_OOM, place_none(), "no memory for %zu bytes of text", bytes);
  texts->next = loop->texts;
  loop->texts = texts;
  char *to = texts->bytes;
  for (size_t i = 0; i < count; i++) {
    if (table[i].length) memcpy(to, table[i].bytes, table[i].length);
    table[i].bytes = to;
    to += table[i].length;
  }
  return HONE_OK;
}

hone_status loop_keep_text(struct ctx *ctx, struct loop *loop, size_t set) {
  const hone_tensor *outputs = loop->sets[set].outputs;
  bool is_read = false;
  for (size_t i = 0; i < loop->io->output_count; i++) {
    if (outputs[i].dtype != HONE_STRING) continue;
    if (!is_read && loop->backend->read_text)
      TRY(loop->backend->read_text(ctx, loop->session, (int)set));
    is_read = true;
    TRY(keep_one(ctx, loop, &outputs[i]));
  }
  return HONE_OK;
}

void loop_forget_text(struct loop *loop) {
  while (loop->texts) {
    struct loop_texts *next = loop->texts->next;
    free(loop->texts);
    loop->texts = next;
  }
}

bool loop_compare(const struct loop *loop, size_t set, struct accuracy *accuracy) {
  const struct run_set *at = &loop->sets[set];
  bool has_reference = true;
  for (size_t i = 0; i < loop->io->output_count; i++) {
    if (at->expected[i].data)
      accuracy_add(accuracy, loop->io->outputs[i].name, &at->expected[i], at->outputs[i].data,
                   &loop->yardsticks[i]);
    else
      has_reference = false;
  }
  return has_reference;
}
