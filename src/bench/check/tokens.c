/* Compares generated tokens with those of the reference. A folder has tokens_SET.npy: the prompt
 * and the reference's tokens, or the prompt alone if there is no reference. leads_SET.npy has the
 * margin of each reference token: the difference of its logit and the second largest.
 */
#include "core/os/os.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>

void accuracy_of_tokens(struct accuracy *out) {
  accuracy_init(out);
  out->max_abs_diff = out->max_rel_diff = out->rel_l2 = out->cosine = NAN;
}

double generation_lead(const char *format) {
  return strcmp(format, "gguf") ? GENERATION_LEAD : GENERATION_LEAD_OF_BLOCKS;
}

void generation_path(const struct bench_case *one, const struct scenario *scenario,
                     char out[4096]) {
  snprintf(out, 4096, "%.4000s/%d+%d", one->generation_dir, scenario->prompt, scenario->count);
}

hone_status reference_tokens_read(struct ctx *ctx, const char *dir, int set, int64_t prompt,
                                  int64_t count, double limit, struct reference_tokens *out) {
  char path[4096];
  hone_tensor tensor = {.data = NULL};
  *out = (struct reference_tokens){.prompt = prompt, .count = count, .limit = limit};
  snprintf(path, sizeof path, "%.4000s/tokens_%d.npy", dir, set);
  TRY(npy_read(ctx, path, NULL, &tensor));
  out->tokens = tensor.data;
  if (tensor.dtype != HONE_I64 || tensor.rank != 1 ||
      (tensor.shape[0] != prompt + count && tensor.shape[0] != prompt))
    return fail(ctx, HONE_E_FORMAT, place_file(path), "is not a sequence of %lld tokens",
                (long long)(prompt + count));
  if (tensor.shape[0] == prompt) return HONE_OK; /* no reference */
  snprintf(path, sizeof path, "%.4000s/leads_%d.npy", dir, set);
  tensor.data = NULL;
  TRY(npy_read(ctx, path, NULL, &tensor));
  out->leads = tensor.data;
  return tensor.dtype == HONE_F64 && tensor.rank == 1 && tensor.shape[0] == count
             ? HONE_OK
             : fail(ctx, HONE_E_FORMAT, place_file(path), "must have one margin per token");
}

void reference_tokens_deinit(struct reference_tokens *reference) {
  free(reference->tokens);
  free(reference->leads);
  reference->tokens = NULL;
  reference->leads = NULL;
}

/* The comparison ends at the first token that differs: later tokens have another context. */
bool reference_tokens_compare(const struct reference_tokens *reference, const int64_t *actual,
                              struct accuracy *accuracy) {
  const int64_t count = reference->count;
  int64_t same = 0;
  if (!reference->leads) return false;
  const int64_t *expected = reference->tokens + reference->prompt;
  while (same < count && expected[same] == actual[same]) same++;
  const double share = (double)same / (double)count;
  if (share < accuracy->top1) accuracy->top1 = share;
  accuracy->max_rel_diff = fmax(accuracy->max_rel_diff, same < count ? reference->leads[same] : 0);
  if (same == count) return true;
  if (actual[same] >= 0 && reference->leads[same] < reference->limit) return true;
  if (accuracy->is_within)
    snprintf(accuracy->where, sizeof accuracy->where,
             "token %lld of %lld is %lld, the reference's %lld, which has a margin of %.3g of the "
             "largest logit "
             "(limit %.3g)",
             (long long)same + 1, (long long)count, (long long)actual[same],
             (long long)expected[same], reference->leads[same], reference->limit);
  accuracy->is_within = false;
  return true;
}
