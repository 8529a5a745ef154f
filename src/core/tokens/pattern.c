/* The patterns of pre-tokenisers. An alternative is a sequence of repeated sets, matched greedily with
 * backtracking; the first alternative that matches counts, as in the regular expressions of the
 * models' tokenizer.json. ASCII characters are themselves; others match by category, by ranges, and
 * spaces among them as a vertical tab.
 */
#include <stdlib.h>

#include "tokeniser.h"

/* -- sets */

static void add_ascii(struct code_set *set, uint32_t first, uint32_t last) {
  for (uint32_t c = first; c <= last && c < 128; c++) set->ascii[c / 64] |= 1ull << c % 64;
}

static void add_ascii_of(struct code_set *set, enum category category) {
  for (uint32_t c = 0; c < 128; c++)
    if (category_of(c) == category) add_ascii(set, c, c);
}

static bool set_has(const struct code_set *set, uint32_t code) {
  const enum category category = code < 128 ? IS_OTHER : category_of(code);
  bool found = false;
  if (category == IS_SPACE) code = '\v';
  for (int i = 0; i < set->range_count && !found; i++)
    found = code >= set->ranges[i][0] && code <= set->ranges[i][1];
  if (!found && code < 128)
    found = set->ascii[code / 64] >> code % 64 & 1;
  else if (!found)
    found = set->categories >> category & 1;
  return found != set->is_negated;
}

/* -- reading a pattern */

static const char *read_category(const char *p, struct code_set *set) {
  static const char letters[] = "LNPMS"; /* from IS_LETTER on */
  const char *found = strchr(letters, p[1]);
  if (p[0] != '{' || !p[1] || !found) return NULL;
  const enum category category = (enum category)(IS_LETTER + (found - letters));
  set->categories |= (uint8_t)(1u << category);
  if (p[2] == 'u' || p[2] == 'l') /* by case only among ASCII letters */
    add_ascii(set, p[2] == 'u' ? 'A' : 'a', p[2] == 'u' ? 'Z' : 'z');
  else
    add_ascii_of(set, category);
  p = strchr(p, '}');
  return p ? p + 1 : NULL;
}

static void add_spaces(struct code_set *set) {
  add_ascii(set, '\t', '\r');
  add_ascii(set, ' ', ' ');
}

/* After a backslash: a category, \s, \S (only alone), \x{..}, or a character. *out_code: that, or 0. */
static const char *read_escape(const char *p, struct code_set *set, uint32_t *out_code) {
  *out_code = 0;
  if (*p == 'p') return read_category(p + 1, set);
  if (*p == 's' || *p == 'S') {
    add_spaces(set);
    set->is_negated ^= *p == 'S';
    return p + 1;
  }
  if (*p == 'x' && p[1] == '{') {
    char *end;
    *out_code = (uint32_t)strtoul(p + 2, &end, 16);
    return *end == '}' ? end + 1 : NULL;
  }
  *out_code = *p == 'r' ? '\r' : *p == 'n' ? '\n' : (uint8_t)*p;
  return *p ? p + 1 : NULL;
}

static bool add_range(struct code_set *set, uint32_t first, uint32_t last) {
  if (last < 128) {
    add_ascii(set, first, last);
    return true;
  }
  if (set->range_count == PATTERN_RANGES) return false;
  set->ranges[set->range_count][0] = first;
  set->ranges[set->range_count++][1] = last;
  return true;
}

static const char *read_code(const char *p, struct code_set *set, uint32_t *out_code) {
  if (*p == '\\') return read_escape(p + 1, set, out_code);
  *out_code = (uint8_t)*p;
  return p + 1;
}

static const char *read_brackets(const char *p, struct code_set *set) {
  const bool is_negated = *p == '^';
  p += is_negated;
  while (p && *p && *p != ']') {
    uint32_t first, last;
    p = read_code(p, set, &first);
    last = first;
    if (p && first && *p == '-' && p[1] != ']') p = read_code(p + 1, set, &last);
    if (p && first && !add_range(set, first, last)) return NULL;
  }
  set->is_negated = is_negated;
  return p && *p ? p + 1 : NULL;
}

static const char *read_set(const char *p, struct code_set *set) {
  uint32_t code;
  if (*p == '[') return read_brackets(p + 1, set);
  p = read_code(p, set, &code);
  return p && (!code || add_range(set, code, code)) ? p : NULL;
}

static const char *read_count(const char *p, struct pattern_item *item) {
  char *end;
  item->least = *p != '?' && *p != '*';
  item->most = *p == '*' || *p == '+' ? UINT32_MAX : 1;
  if (*p == '?' || *p == '*' || *p == '+') return p + 1;
  if (*p != '{') return p;
  item->least = item->most = (uint32_t)strtoul(p + 1, &end, 10);
  if (*end == ',') item->most = (uint32_t)strtoul(end + 1, &end, 10);
  return *end == '}' ? end + 1 : NULL;
}

static const char *read_item(const char *p, struct pattern_item *item) {
  *item = (struct pattern_item){.is_lookahead = !strncmp(p, "(?!", 3)};
  p = read_set(item->is_lookahead ? p + 3 : p, &item->set);
  if (!p || !item->is_lookahead) return p ? read_count(p, item) : NULL;
  return *p == ')' ? p + 1 : NULL;
}

hone_status pattern_parse(struct ctx *ctx, const char *text, struct pattern *out) {
  const char *p = text;
  out->count = 1;
  out->alternatives[0].count = 0;
  while (p && *p) {
    struct alternative *now = &out->alternatives[out->count - 1];
    if (*p == '|') {
      p = out->count < PATTERN_ALTERNATIVES ? p + 1 : NULL;
      out->alternatives[out->count++].count = 0;
    } else {
      p = now->count < PATTERN_ITEMS ? read_item(p, &now->items[now->count]) : NULL;
      now->count++;
    }
  }
  return p ? HONE_OK : fail(ctx, HONE_E_INTERNAL, place_name(text), "is not such a pattern");
}

/* -- matching */

/* *out_end: where items from `at` on end. */
static bool match_items(const struct alternative *a, size_t item, const uint32_t *codes,
                        size_t count, size_t at, size_t *out_end) {
  if (item == a->count) {
    *out_end = at;
    return true;
  }
  const struct pattern_item *now = &a->items[item];
  if (now->is_lookahead)
    return (at == count || !set_has(&now->set, codes[at])) &&
           match_items(a, item + 1, codes, count, at, out_end);
  size_t n = 0;
  while (at + n < count && n < now->most && set_has(&now->set, codes[at + n])) n++;
  for (size_t k = n + 1; k-- > now->least;)
    if (match_items(a, item + 1, codes, count, at + k, out_end)) return true;
  return false;
}

size_t pattern_match(const struct pattern *pattern, const uint32_t *codes, size_t count) {
  size_t end;
  for (size_t i = 0; i < pattern->count; i++)
    if (match_items(&pattern->alternatives[i], 0, codes, count, 0, &end) && end) return end;
  return 0;
}
