/* A mutator for text: it deletes, doubles, swaps and copies words, numbers, lines and punctuation,
 * and replaces numbers by the limits of their types. */
#ifndef HONE_FUZZ_WORDS_H
#define HONE_FUZZ_WORDS_H

#include <ctype.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static inline uint32_t words_next(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}
static inline int words_class(uint8_t c) {
  return isdigit(c) ? 1 : isalpha(c) || c == '_' ? 2 : isspace(c) ? 3 : 4;
}
/* The token that contains `at`. */
static inline void words_find(const uint8_t *data, size_t size, size_t at, size_t *begin, size_t *end) {
  *begin = at;
  while (*begin && words_class(data[*begin]) != 4 && words_class(data[*begin - 1]) == words_class(data[*begin]))
    --*begin;
  *end = *begin + 1;
  while (*end < size && words_class(data[*begin]) != 4 && words_class(data[*end]) == words_class(data[*begin])) ++*end;
}
static inline void words_find_line(const uint8_t *data, size_t size, size_t at, size_t *begin, size_t *end) {
  *begin = at;
  while (*begin && data[*begin - 1] != '\n') --*begin;
  *end = at;
  while (*end < size && data[(*end)++] != '\n') continue;
}
static inline size_t words_put(uint8_t *data, size_t size, size_t most, size_t begin, size_t end, const void *what,
                               size_t n) {
  uint8_t copy[4096];
  if (n > sizeof copy || size - (end - begin) + n > most) return size;
  memcpy(copy, what, n);
  memmove(data + begin + n, data + end, size - end);
  memcpy(data + begin, copy, n);
  return size - (end - begin) + n;
}

static inline size_t words_mutate(uint8_t *data, size_t size, size_t most, uint32_t seed) {
  static const char *const numbers[] = {"0", "1", "-1", "2", "3", "16", "127", "128", "255", "256", "65536",
                                        "2147483647", "2147483648", "4294967295", "9223372036854775807",
                                        "-9223372036854775808", "18446744073709551616", "1e308", "1e-400", "0.5",
                                        "NaN", "00000000000000000000000000000001"};
  size_t begin, end, from, to;
  for (uint32_t times = 1 + words_next(&seed) % 3; times-- && size;) {
    words_find(data, size, words_next(&seed) % size, &begin, &end);
    words_find(data, size, words_next(&seed) % size, &from, &to);
    switch (words_next(&seed) % 10) {
      case 0:
        size = words_put(data, size, most, begin, end, "", 0);
        break;
      case 1:
        size = words_put(data, size, most, begin, begin, data + from, to - from);
        break;
      case 2:
        size = words_put(data, size, most, begin, end, data + from, to - from);
        break;
      case 3:
        words_find_line(data, size, begin, &begin, &end);
        words_find_line(data, size, from, &from, &to);
        size = words_put(data, size, most, begin, begin, data + from, to - from);
        break;
      case 4:
        words_find_line(data, size, begin, &begin, &end);
        size = words_put(data, size, most, begin, end, "", 0);
        break;
      case 5:
        data[begin] = (uint8_t)words_next(&seed);
        break;
      case 6:
        return LLVMFuzzerMutate(data, size, most);
      default: { /* a number, the next one from here */
        while (begin < size && words_class(data[begin]) != 1) begin++;
        if (begin == size) break;
        words_find(data, size, begin, &begin, &end);
        const char *number = numbers[words_next(&seed) % (sizeof numbers / sizeof *numbers)];
        size = words_put(data, size, most, begin, end, number, strlen(number));
      }
    }
  }
  return size;
}

#endif
