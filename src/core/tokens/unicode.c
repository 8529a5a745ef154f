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
