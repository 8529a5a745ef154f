/* Metrics of sequences: predicted against labelled ones. */
#include "metrics_internal.h"

#include <math.h>
#include <stdlib.h>

#define LONGEST 65536

struct sequence {
  int64_t *at;
  size_t count;
};

static MUST_USE hone_status make(struct ctx *ctx, size_t most, struct sequence *out) {
  *out = (struct sequence){.at = NULL};
  if (most > LONGEST)
    return fail(ctx, HONE_E_LIMIT, place_none(), "a sequence of %zu, at most %d", most, LONGEST);
  out->at = calloc(most + 1, sizeof *out->at);
  return out->at ? HONE_OK : fail(ctx, HONE_E_OOM, place_none(), "no memory for a sequence");
}

/* Integer outputs unchanged, or the largest index of each row; with "symbols" decoded as CTC:
 * repeats merged, blanks removed. */
static MUST_USE hone_status read_ids(struct ctx *ctx, const struct score *score,
                                     const struct sample *s, struct sequence *out) {
  const json_t *blank = json_object_get(score->labels->root, "blank");
  const hone_tensor *t = s->judged;
  const bool is_ids = dtype_is_integer(t->dtype) && t->dtype != HONE_I8 && t->dtype != HONE_U8;
  const size_t width = is_ids ? 1 : (size_t)t->shape[t->rank - 1];
  const size_t rows = tensor_elements(t) / width;
  int64_t before = -1;
  TRY(make(ctx, rows, out));
  for (size_t row = 0; row < rows; row++) {
    int64_t id = is_ids ? (int64_t)element_number(t->data, t->dtype, row) : 0;
    for (size_t i = 1; !is_ids && i < width; i++)
      if (element_number(t->data, t->dtype, row * width + i) >
          element_number(t->data, t->dtype, row * width + (size_t)id))
        id = (int64_t)i;
    const bool is_left_out = blank && (id == before || id == json_integer_value(blank));
    before = id;
    if (!is_left_out) out->at[out->count++] = id;
  }
  return HONE_OK;
}

/* -- wer, cer */

/* Words, or characters, as numbers: equal ones get equal numbers. */
static MUST_USE hone_status split(struct ctx *ctx, const char *text, bool characters,
                                  struct sequence *out) {
  const size_t length = strlen(text);
  TRY(make(ctx, length, out));
  for (size_t i = 0; i < length;) {
    size_t n = characters ? 1 : strcspn(text + i, " ");
    while (characters && i + n < length && ((unsigned char)text[i + n] & 0xc0) == 0x80) n++;
    if (n && (!characters || text[i] != ' ')) {
      uint64_t hash = 0xcbf29ce484222325u;
      for (size_t k = 0; k < n; k++) hash = (hash ^ (unsigned char)text[i + k]) * 0x100000001b3u;
      out->at[out->count++] = (int64_t)hash;
    }
    i += n + (!characters && text[i + n] == ' ');
  }
  return HONE_OK;
}

static MUST_USE hone_status distance(struct ctx *ctx, const struct sequence *a,
                                     const struct sequence *b, double *out) {
  size_t *row = calloc(b->count + 1, sizeof *row);
  if (!row) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a distance");
  for (size_t j = 0; j <= b->count; j++) row[j] = j;
  for (size_t i = 1; i <= a->count; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b->count; j++) {
      size_t least = diagonal + (a->at[i - 1] != b->at[j - 1]);
      if (row[j] + 1 < least) least = row[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = least;
    }
  }
  *out = (double)row[b->count];
  free(row);
  return HONE_OK;
}

static MUST_USE hone_status decode(struct ctx *ctx, const struct score *score,
                                   const struct sequence *ids, struct strbuf *out) {
  const json_t *symbols = json_object_get(score->labels->root, "symbols");
  for (size_t i = 0; i < ids->count; i++) {
    const char *symbol =
        ids->at[i] < 0 ? NULL : json_string_value(json_array_get(symbols, (size_t)ids->at[i]));
    if (!symbol)
      return fail(ctx, HONE_E_SHAPE, place_none(),
                  "\"symbols\" of the labels has no string for class %lld", (long long)ids->at[i]);
    strbuf_puts(out, symbol);
  }
  if (!ids->count) strbuf_puts(out, "");
  return strbuf_finish(ctx, out);
}

hone_status add_text(struct ctx *ctx, struct score *score, const struct sample *s) {
  const bool characters = score->labels->metric->number == 1;
  const char *meant = json_string_value(s->label);
  struct sequence ids = {NULL, 0}, said = {NULL, 0}, answer = {NULL, 0};
  struct strbuf text = {0};
  double errors = 0;
  if (!meant) return fail(ctx, HONE_E_FORMAT, place_none(), "a label of wer and cer is a string");
  hone_status status = read_ids(ctx, score, s, &ids);
  if (!status) status = decode(ctx, score, &ids, &text);
  if (!status) status = split(ctx, text.at ? text.at : "", characters, &said);
  if (!status) status = split(ctx, meant, characters, &answer);
  if (!status) status = distance(ctx, &said, &answer, &errors);
  score->right += errors; /* counts errors here */
  score->all += (double)answer.count;
  free(ids.at);
  free(said.at);
  free(answer.at);
  strbuf_deinit(&text);
  return status;
}

/* -- bleu */

static size_t occurrences(const struct sequence *in, const int64_t *gram, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i + n <= in->count; i++) count += !memcmp(in->at + i, gram, n * sizeof *gram);
  return count;
}

/* Number of n-grams of `said` that occur in `answer`, each counted at most as often as there. */
static size_t clipped(const struct sequence *said, const struct sequence *answer, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i + n <= said->count; i++) {
    const struct sequence before = {said->at, i + n - 1};
    count += occurrences(&before, said->at + i, n) < occurrences(answer, said->at + i, n);
  }
  return count;
}

hone_status add_bleu(struct ctx *ctx, struct score *score, const struct sample *s) {
  const size_t longest = (size_t)score->labels->metric->number;
  struct sequence said = {NULL, 0}, answer = {NULL, 0};
  if (!json_is_array(s->label))
    return fail(ctx, HONE_E_FORMAT, place_none(), "a label of bleu is a list of token ids");
  if (!score->matches) score->matches = calloc(longest, sizeof *score->matches);
  if (!score->guesses) score->guesses = calloc(longest, sizeof *score->guesses);
  if (!score->matches || !score->guesses)
    return fail(ctx, HONE_E_OOM, place_none(), "no memory for n-grams");
  hone_status status = read_ids(ctx, score, s, &said);
  if (!status) status = make(ctx, json_array_size(s->label), &answer);
  for (size_t i = 0; !status && i < json_array_size(s->label); i++)
    answer.at[answer.count++] = json_integer_value(json_array_get(s->label, i));
  for (size_t n = 1; !status && n <= longest; n++) {
    score->matches[n - 1] += (int64_t)clipped(&said, &answer, n);
    score->guesses[n - 1] += said.count >= n ? (int64_t)(said.count - n + 1) : 0;
  }
  score->guessed_length += (double)said.count;
  score->answer_length += (double)answer.count;
  score->all++;
  free(said.at);
  free(answer.at);
  return status;
}

double value_bleu(const struct score *score) {
  double sum = 0;
  if (!(score->all > 0)) return NAN;
  for (int n = 0; n < score->labels->metric->number; n++) {
    if (!score->matches[n]) return 0;
    sum += log((double)score->matches[n] / (double)score->guesses[n]);
  }
  const double brevity = score->guessed_length < score->answer_length
                             ? exp(1 - score->answer_length / score->guessed_length)
                             : 1;
  return brevity * exp(sum / score->labels->metric->number);
}
