/* The rows of precisions.def. */
#include "base.h"

const struct precision_facts precisions[PRECISION_COUNT] = {
#define PRECISION(id, name, dtype, rel_l2, max_rel, can_ask) \
  {name, dtype, rel_l2, max_rel, can_ask},
#include "precisions.def"
#undef PRECISION
};

enum precision precision_find(const char *name) {
  int i = 0;
  while (i < PRECISION_COUNT && strcmp(precisions[i].name, name)) i++;
  return (enum precision)i;
}

enum precision precision_of(hone_dtype dtype) {
  int i = 0;
  while (i < PRECISION_COUNT && (!dtype || precisions[i].dtype != dtype)) i++;
  return (enum precision)i;
}

enum precision precision_of_word(const char *word) {
  static const struct {
    const char *word;
    enum precision precision;
  } words[] = {{"float", PRECISION_FP32},    {"float16", PRECISION_FP16},
               {"bfloat16", PRECISION_BF16}, {"double", PRECISION_FP64},
               {"uint8", PRECISION_INT8},    {"u8", PRECISION_INT8},
               {"U8", PRECISION_INT8},       {"I8", PRECISION_INT8}};
  for (size_t i = 0; i < COUNT(words); i++)
    if (!strcmp(words[i].word, word)) return words[i].precision;
  const enum precision own = precision_find(word);
  return own == PRECISION_COUNT ? precision_of(dtype_parse(word)) : own;
}

void precision_names(char *out, size_t size) {
  size_t n = 0;
  out[0] = 0;
  for (int i = 0; i < PRECISION_COUNT && n < size; i++)
    if (precisions[i].can_ask)
      n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", precisions[i].name);
}
