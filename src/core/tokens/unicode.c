/* UTF-8, and categories of code points. unicode.def is made by tools/unicode_categories.py. */
#include "tokeniser.h"

/* Where the category changes: code point << 3 | category, ascending. */
static const uint32_t changes[] = {
#include "unicode.def"
};

enum category category_of(uint32_t code) {
  size_t low = 0, high = COUNT(changes);
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (changes[middle] >> 3 <= code)
      low = middle;
    else
      high = middle;
  }
  return (enum category)(changes[low] & 7);
}

uint32_t utf8_read(const char *text, size_t size, size_t *out_size) {
  const uint8_t *s = (const uint8_t *)text;
  const size_t want = s[0] < 0x80   ? 1
                      : s[0] < 0xC0 ? 0
                      : s[0] < 0xE0 ? 2
                      : s[0] < 0xF0 ? 3
                      : s[0] < 0xF8 ? 4
                                    : 0;
  uint32_t code = want < 2 ? s[0] : s[0] & (0x7Fu >> want);
  bool is_whole = want > 0 && want <= size;
  for (size_t i = 1; i < want && is_whole; i++) {
    is_whole = (s[i] & 0xC0) == 0x80;
    code = code << 6 | (s[i] & 0x3F);
  }
  *out_size = is_whole ? want : 1;
  return is_whole && code <= 0x10FFFF ? code : 0xFFFD;
}

size_t utf8_write(uint32_t code, char out[4]) {
  const size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = size; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
  out[0] = (char)(marks[size] | code);
  return size;
}
